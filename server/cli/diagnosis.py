"""The checks of `doctor`: each finding says what was found and how to mend what is wrong."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from model.compile_targets import TARGETS, Vendor
from model.device import Device, DeviceType
from model.device_catalog import builtin_devices
from model.device_curves import CALIBRATION_VERSION
from model.engine import Engine
from model.errors import ConfigError
from model.launch.config import load_config
from model.launch.config_file import find_config
from model.learned.learned import UnusableModel, weights_folder
from profiler.device_worker.unknown_processor import is_old, nearest_known, processor_facts
from profiler.devices import discover
from profiler.gpu_hardware import unserved_gpus
from profiler.installing import install_command, path_command, reinstall_command, upgrade_command
from profiler.measurement import MeasureError
from profiler.offline.compiling import find_any_tools
from profiler.offline.tools import ToolMissing
from profiler.offline.vendor_tools import DISASSEMBLER_HINT, IntelTools
from profiler.process.drivers import LOADER_VARIABLES, intels_library
from profiler.store import DATA_DIR_VARIABLE, Store, StoreError
from server.cli.learn import accuracy_lines
from server.log.faults import faults_file, kept_faults
from server.predictor.client import LOADING_S
from server.predictor.messages import Ask
from server.predictor.process import PredictorProcess, ProcessEnded
from server.text.format import format_duration_us, format_mem_bytes, format_things, shown_name

_NEEDED = (
    "pygls",
    "lsprotocol",
    "tree-sitter",
    "tree-sitter-c",
    "pcpp",
    "cattrs",
    "platformdirs",
    "rich",
    "cachetools",
)
_FOR_DEVICES = ("pyopencl", "numpy")
_OPTIONAL = {
    "pocl-binary-distribution": "pocl",
    "intel-opencl-rt": "intel",
    "ziglang": "offline",
    "pyarrow": "parquet",
    "resvg-py": "picture",
    "torch": "train",
    "distributed": "cluster",
}
_PROBE = "__kernel void probe(__global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"


class Health(StrEnum):
    GOOD = "ok"
    NOTE = "note"  # works, and could be better
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """`mend` says what to do; empty where nothing is to be done."""

    subject: str
    health: Health
    text: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Profiles:
    """Returns calibrated profiles, for the discovery of devices."""

    profiles: Callable[[], tuple[Device, ...]]


Discover = Callable[[Profiles], tuple[Device, ...]]


def examine(folder: Path, find_devices: Discover = discover) -> Iterator[Finding]:
    """Yield all findings, in the order a newcomer would ask; `folder` is where `kernelcast.toml` is looked for.

    `find_devices` is for those who have asked the drivers already. It raises `MeasureError` where there are none.
    """
    yield from _programs()
    yield from _analysis()
    yield from _model()
    profiles, finding = _store()
    yield finding
    yield from _devices(profiles, find_devices)
    yield from _offline_compilers()
    yield _configuration(folder)
    yield _faults()


def _programs() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("kernelcast", Health.GOOD, f"{version('kernelcast')} on Python {python}, {sys.executable}")
    missing = [name for name in (*_NEEDED, *_FOR_DEVICES) if _version(name) is None]
    here = ", ".join(f"{name} {_version(name)}" for name in (*_NEEDED, *_FOR_DEVICES) if name not in missing)
    if missing:
        mend = upgrade_command()
        yield Finding("packages", Health.BROKEN, f"missing: {', '.join(missing)}", mend)
    else:
        yield Finding("packages", Health.GOOD, here)
    extras = [f"{name} {_version(name)} ({extra})" for name, extra in _OPTIONAL.items() if _version(name)]
    absent = [extra for name, extra in _OPTIONAL.items() if not _version(name)]
    said = ", ".join(extras) or "none installed"
    yield Finding("extras", Health.GOOD, said + (f"; not installed: {', '.join(absent)}" if absent else ""))
    yield _on_path()


def _on_path() -> Finding:
    """Check which `kernelcast` editors start: the first on the PATH."""
    found = shutil.which("kernelcast")
    own = Path(sys.executable).with_name("kernelcast")
    if found is None:
        mend = f"set your editor's path to {own}, or " + (path_command() or f"add {own.parent} to PATH")
        return Finding("command", Health.NOTE, "`kernelcast` is not on the PATH, so editors will not find it", mend)
    if own.exists() and not own.samefile(found):
        mend = f"if that is not what you want, set your editor's path to {own}"
        return Finding("command", Health.NOTE, f"`kernelcast` on the PATH is another one: {found}", mend)
    return Finding("command", Health.GOOD, found)


def _analysis() -> Iterator[Finding]:
    device = builtin_devices()[0]
    found = Engine().forecast(_PROBE, None, device)
    prediction = found.forecasts[0].prediction if found.forecasts else None
    if prediction is None:
        said = [f.problem.message for f in found.forecasts if f.problem] or [p.message for p in found.problems]
        mend = reinstall_command("tree-sitter tree-sitter-c pcpp")
        yield Finding("analysis", Health.BROKEN, f"a plain kernel has no prediction: {'; '.join(said)}", mend)
    else:
        yield Finding(
            "analysis", Health.GOOD, f"a plain kernel reads and counts; {len(builtin_devices())} devices known"
        )


def _model() -> Iterator[Finding]:
    """Report the learned model, loaded in its own process as by the server; nothing where none is shipped."""
    folder = weights_folder()
    if folder is None:
        return
    try:
        predictor = PredictorProcess(lambda: None)
        with contextlib.closing(predictor):
            predictor.ask(Ask((), {}), LOADING_S, lambda: False)
    except (UnusableModel, ProcessEnded) as error:
        text = f"{error.message}; predictions come from the analytical model alone"
        yield Finding("learned model", Health.BROKEN, text, upgrade_command())
    else:
        yield Finding("learned model", Health.GOOD, f"its process starts and loads {folder}")


def _store() -> tuple[Callable[[], tuple[Device, ...]], Finding]:
    """Return what was calibrated, and the state of the place where that is kept."""
    try:
        store = Store.open()
        profiles = store.profiles()
    except StoreError as error:
        mend = f"make that file usable, or set {DATA_DIR_VARIABLE} to a folder that can be written"
        return tuple, Finding("store", Health.BROKEN, error.message, mend)
    size = format_mem_bytes(store.path.stat().st_size)
    text = f"{store.path} ({size}, {format_things(len(profiles), 'calibrated device')})"
    if store.left_out:
        return (lambda: profiles), Finding("store", Health.NOTE, f"{text}. {store.left_out}")
    return (lambda: profiles), Finding("store", Health.GOOD, text)


def _devices(profiles: Callable[[], tuple[Device, ...]], find_devices: Discover) -> Iterator[Finding]:
    try:
        found = find_devices(Profiles(profiles))
    except MeasureError as error:
        mend = "" if "kernelcast[pocl]" in error.message else install_command("pocl")
        text = f"{error.message}. {_drivers_registered()}"
        yield Finding("devices", Health.BROKEN, text, mend or "do that, then run `kernelcast doctor` again")
        yield from _unserved(())
        return
    for device in found:
        text = (
            f"{shown_name(device.name)}, {device.platform}, driver {device.driver}, {device.compute_units} units, "
            f"{format_mem_bytes(device.global_mem_bytes)}"
        )
        yield Finding(f"device {device.id}", Health.GOOD, text)
        if device.calibrated:
            floor = format_duration_us(device.rates.launch_floor_us)
            yield Finding("", Health.GOOD, f"calibrated {(device.measured_at or '')[:10]}, launch floor {floor}")
            if device.calibration is None or device.calibration.version < CALIBRATION_VERSION:
                text = "calibrated by an earlier version, which measured less, or less well"
                yield Finding("", Health.NOTE, text, f"kernelcast calibrate {device.id}")
        else:
            mend = f"kernelcast calibrate {device.id}"
            yield Finding("", Health.NOTE, f"not calibrated: rates from the {device.source}", mend)
        if told := accuracy_lines(device):
            yield Finding("", Health.GOOD, "; ".join(told))
    yield from _unserved(found)
    yield from _intels_runtime(found)
    if any("portable computing" in device.platform.lower() for device in found):
        yield from _processor()
        yield _pinning()
        yield _linker()
    yield _load()


def _unserved(found: Sequence[Device]) -> Iterator[Finding]:
    for gpu in unserved_gpus(found):
        yield Finding(f"{gpu.vendor}'s GPU", Health.NOTE, gpu.text, gpu.mend)


def _intels_runtime(found: Sequence[Device]) -> Iterator[Finding]:
    """Yield a second CPU platform for machines with x86-64 processors."""
    if any("intel" in device.platform.lower() and device.type is DeviceType.CPU for device in found):
        return
    if intels_library() is not None:
        chosen = next((name for name in LOADER_VARIABLES if name in os.environ), None)
        reason = f"{chosen} is set, which leaves the choice of drivers to you" if chosen else "its driver does not load"
        mend = f"unset {chosen}" if chosen else reinstall_command("'kernelcast[intel]'")
        yield Finding("second platform", Health.NOTE, f"Intel's CPU runtime is installed and not seen: {reason}", mend)
    elif platform.machine().lower() in ("x86_64", "amd64"):
        text = f"none; Intel's CPU runtime compiles otherwise than PoCL does: {install_command('intel')} (276 MB)"
        yield Finding("second platform", Health.GOOD, text)


def _drivers_registered() -> str:
    """Return where the OpenCL loader looks for drivers."""
    folder = Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")
    names = sorted(file.name for file in folder.glob("*.icd")) if folder.is_dir() else []
    return f"Drivers registered in {folder}: {', '.join(names) or 'none'}."


def _processor() -> Iterator[Finding]:
    """Yield what PoCL builds for, where its compiler is older than the processor."""
    facts = processor_facts()
    if not is_old(facts):
        text = (
            f"{facts.get('vendor_id', 'unknown')} family {facts['cpu family']} is newer than PoCL's compiler, LLVM 14, "
            f"which builds nothing then: Kernelcast has it build for {nearest_known(facts.get('flags', '').split())}"
        )
        yield Finding("processor", Health.NOTE, text, "for other programs, install PoCL with a newer LLVM")


def _pinning() -> Finding:
    chosen = os.environ.get("POCL_AFFINITY")
    if chosen in (None, "1"):
        return Finding(
            "pinning", Health.GOOD, "PoCL's threads are pinned when Kernelcast runs kernels (POCL_AFFINITY=1)"
        )
    text = f"POCL_AFFINITY={chosen} in your environment: PoCL's threads move, and times flip between t and 2t"
    return Finding("pinning", Health.NOTE, text, "unset POCL_AFFINITY")


def _linker() -> Finding:
    """Check for a linker: PoCL turns each kernel into a shared library."""
    linker = shutil.which("ld") or shutil.which("ld.lld")
    if linker is None:
        mend = "install gcc and libc6-dev (Debian, Ubuntu: apt-get install gcc libc6-dev)"
        return Finding("linker", Health.BROKEN, "PoCL cannot build kernels: there is no linker", mend)
    return Finding("linker", Health.GOOD, f"PoCL links kernels with {linker}")


def _load() -> Finding:
    """Report the machine's load: measured times are only worth something on a quiet machine."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > 0.5 * cores:
        mend = "close what keeps it busy before you measure or calibrate"
        return Finding("load", Health.NOTE, f"{load:.1f} on {cores} cores: the machine is busy", mend)
    return Finding("load", Health.GOOD, f"{load:.1f} on {cores} cores")


def _offline_compilers() -> Iterator[Finding]:
    """Yield what `kernelcast compile --target` needs; nothing is broken without it."""
    names = {Vendor.NVIDIA: "NVIDIA", Vendor.AMD: "AMD", Vendor.INTEL: "Intel", Vendor.ARM: "Arm"}
    for vendor, name in names.items():
        count = sum(each.vendor is vendor for each in TARGETS.values())
        subject = f"offline, {name}"
        try:
            tools = find_any_tools(vendor)
        except ToolMissing as error:
            text, _, mend = error.message.partition(": ")
            yield Finding(subject, Health.NOTE, f"{text}; `compile --target` cannot be used for {name}", mend)
            continue
        if isinstance(tools, IntelTools) and tools.disassembler is None:
            said = f"{tools.version}, {count} targets as far as it knows them; instructions are not read without iga64"
            yield Finding(subject, Health.NOTE, said, DISASSEMBLER_HINT)
            continue
        yield Finding(subject, Health.GOOD, f"{tools.version}, {count} targets")


def _configuration(folder: Path) -> Finding:
    path = find_config(folder)
    if path is None:
        return Finding("kernelcast.toml", Health.GOOD, f"none in {folder} or above it; none is needed")
    try:
        config = load_config(folder)
    except ConfigError as error:
        place = f"{path}:{error.line}" if error.line else str(path)
        return Finding("kernelcast.toml", Health.BROKEN, f"{place}: {error.message}", "correct that line")
    launches = len(config.launches) if config else 0
    return Finding("kernelcast.toml", Health.GOOD, f"{path}, {format_things(launches, 'launch', 'launches')}")


def _faults() -> Finding:
    """Report internal errors in the log, the newest in words."""
    records = kept_faults()
    if not records:
        return Finding("faults", Health.GOOD, f"none on record; {faults_file()} would hold them")
    text = f"{format_things(len(records), 'mistake')} of Kernelcast's own in {faults_file()}; the newest: {records[-1]}"
    return Finding("faults", Health.NOTE, text, "please report them: the records quote none of your code")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
