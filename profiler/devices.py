"""Which devices this machine has, under ids that stay the same from run to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Protocol

from model.architectures import architecture_named
from model.device import Device, DeviceType, ProfileSource, Rates
from model.device_catalog import slug
from model.device_names import named
from model.device_rates import DriverFacts, cores_of, derive_rates
from model.errors import UnknownDevice
from model.known_devices import recognised
from profiler.installing import install_command
from profiler.measurement import DeviceGone
from profiler.process.messages import Phase
from profiler.process.worker import CancelToken, Limits, run_job

DISCOVERY_LIMIT_S = 30.0  # a GPU's driver may need seconds to wake up
KNOWN_AS = "as "  # begins the note of a device whose rates are those of a known chip
_MOST_LISTED = 12  # ids in a message
NO_PLATFORM = (
    f"no OpenCL platform on this machine: {install_command('pocl')} for a CPU device that needs nothing else, "
    "or install your vendor's OpenCL driver; `kernelcast doctor` says what was found"
)


class Profiles(Protocol):
    """Where calibrated profiles are kept; `profiler.store.Store` is one."""

    def profiles(self) -> tuple[Device, ...]: ...


def discover(
    profiles: Profiles | None = None,
    *,
    time_limit_s: float = DISCOVERY_LIMIT_S,
    cancel: CancelToken | None = None,
) -> tuple[Device, ...]:
    """Return all devices of all platforms, found by a process of its own, with calibrated rates from `profiles`.

    Raises DeviceGone if there is none, TimedOut or KernelCrashed if a driver hangs or crashes.
    """
    limits = Limits(Phase("asking the OpenCL drivers for their devices", time_limit_s))
    facts = run_job("profiler.device_worker.probing:probe", (), returns=tuple, limits=limits, cancel=cancel)
    if not facts:
        raise DeviceGone(NO_PLATFORM)
    found = tuple(device_of(device_id, each) for device_id, each in zip(assign_ids(facts), facts, strict=True))
    return found if profiles is None else with_calibrations(found, profiles.profiles())


def device_of(device_id: str, facts: DriverFacts) -> Device:
    """Return a profile from what the driver reports: datasheet rates if the chip is known, else scaled templates."""
    known = recognised(facts)
    rates, note, cores, architecture = _scaled(facts) if known is None else _taken(known)
    return Device(
        id=device_id,
        name=facts.name,
        platform=facts.platform,
        type=facts.type,
        driver=facts.driver,
        compute_units=facts.compute_units,
        clock_mhz=facts.clock_mhz,
        global_mem_bytes=facts.global_mem_bytes,
        max_alloc_bytes=facts.max_alloc_bytes,
        local_mem_bytes=facts.local_mem_bytes,
        cache_bytes=facts.cache_bytes,
        max_work_group_size=facts.max_work_group_size,
        max_work_item_sizes=facts.max_work_item_sizes,
        preferred_multiple=facts.preferred_multiple,
        has_fp64=facts.has_fp64,
        has_fp16=facts.has_fp16,
        has_images=facts.has_images,
        rates=rates,
        source=ProfileSource.DRIVER,
        note=note,
        cores=cores,
        architecture=architecture,
    )


def with_calibrations(devices: Sequence[Device], calibrated: Sequence[Device]) -> tuple[Device, ...]:
    """Return the devices with their calibrated rates, if measured under the same driver on the same chip."""
    known = {(profile.id, profile.driver, profile.name): profile for profile in calibrated}

    def merged(device: Device) -> Device:
        profile = known.get((device.id, device.driver, device.name))
        if profile is None:
            return device
        return replace(
            device,
            rates=profile.rates,
            source=ProfileSource.CALIBRATED,
            measured_at=profile.measured_at,
            noise_percent=profile.noise_percent,
            note=profile.note,
            calibration=profile.calibration,
        )

    return tuple(merged(device) for device in devices)


def distinct_devices(first: Iterable[Device], then: Iterable[Device]) -> tuple[Device, ...]:
    """In their order, one for each id; one of the `first` also stands for the datasheet of the same chip in `then`."""
    found: dict[str, Device] = {}
    for device in first:
        found.setdefault(device.id, device)
    names = {device.name for device in found.values()}
    for device in then:
        if device.name not in names:
            found.setdefault(device.id, device)
    return tuple(found.values())


def find_device(devices: Sequence[Device], wanted: str) -> Device:
    """Return the device with exactly this id or name, else the only one whose id, name or platform contains `wanted`.

    Raises UnknownDevice, which lists the ids to choose from.
    """
    exact = called(devices, wanted)
    if len(exact) == 1:
        return exact[0]
    needle = wanted.lower()
    matches = exact or [d for d in devices if any(needle in text.lower() for text in (d.id, d.name, d.platform))]
    if not matches:  # `rtx4090` for "RTX 4090"
        squeezed = _squeezed(needle)
        matches = [d for d in devices if squeezed and any(squeezed in _squeezed(text) for text in (d.id, d.name))]
        exactly = [d for d in matches if _squeezed(d.id).endswith(squeezed)]
        matches = exactly if len(exactly) == 1 else matches
    if needle and len(matches) == 1:
        return matches[0]
    if needle and matches:
        raise UnknownDevice(f"`{wanted}` could be any of: {_listed([device.id for device in matches])}")
    ids = [device.id for device in devices]
    near = get_close_matches(slug(wanted), ids, 4, 0.5) if len(ids) > _MOST_LISTED else []
    choice = f"alike are: {', '.join(near)}" if near else f"there are: {_listed(ids) or 'none'}"
    raise UnknownDevice(f"no device answers to `{wanted}`; {choice}")


def called(devices: Sequence[Device], wanted: str) -> list[Device]:
    """Return the device with exactly this id, else those with this name: several are boards of one chip."""
    same_id = [device for device in devices if device.id == wanted]
    return same_id[:1] or [devices[place] for place in named(wanted, [device.name for device in devices])]


def _squeezed(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - _MOST_LISTED
    tail = f" and {more} more, see `kernelcast devices --all`" if more > 0 else ""
    return ", ".join(ids[:_MOST_LISTED]) + tail


def assign_ids(facts: Sequence[DriverFacts]) -> tuple[str, ...]:
    """Return one id per device, in the given order: `pocl`, `intel-cpu`, `nvidia-h200` ...

    Those that would be the same get -1, -2, ...
    """
    bases = [_base_id(each) for each in facts]
    alike = Counter(bases)
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for base in bases:
        seen[base] += 1
        ids.append(base if alike[base] == 1 else f"{base}-{seen[base]}")
    return tuple(ids)


def _base_id(facts: DriverFacts) -> str:
    platform, vendor = facts.platform.lower(), f"{facts.platform} {facts.vendor}".lower()
    if "portable computing language" in platform:
        return "pocl" if facts.type is DeviceType.CPU else slug("pocl", facts.name)
    if "oclgrind" in platform:
        return "oclgrind"
    if "intel" in platform and facts.type is DeviceType.CPU:
        return "intel-cpu"
    maker = next((m for m in ("nvidia", "amd", "intel", "apple", "arm", "qualcomm") if m in vendor), platform)
    if "advanced micro devices" in vendor:
        maker = "amd"
    name = slug(facts.name)
    return name if name.startswith(slug(maker)) else slug(maker, facts.name)


def _taken(known: Device) -> tuple[Rates, str, int, str]:
    """Return the rates of the chip that was recognised, where they come from, its cores and its architecture."""
    return known.rates, f"{KNOWN_AS}{known.name}: {known.note}", known.cores, known.architecture


def _scaled(facts: DriverFacts) -> tuple[Rates, str, int, str]:
    """Return the same of a chip that no profile is of: from what the driver reports."""
    words = (
        "scaled from what the driver reports, the host's launch cost as usual with such drivers; "
        "run `kernelcast calibrate` to measure it"
    )
    named = architecture_named(facts.board) or architecture_named(facts.name)
    return derive_rates(facts), words, cores_of(facts), named if facts.type is DeviceType.GPU else ""
