"""Find the offline compilers for NVIDIA and AMD, wherever pip or the system put them; run a tool with a time limit."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from model.compile_targets import Vendor
from profiler.installing import install_command
from profiler.measurement import MeasureError, TimedOut

EXTRA = "offline"
# The first CUDA release that brings a version of PTX; source: "PTX ISA", release notes. Only those that clang knows.
_PTX_SINCE = {(13, 0): 90, (12, 9): 88, (12, 8): 87, (12, 7): 86, (12, 5): 85, (12, 4): 84, (12, 3): 83, (12, 2): 82,
              (12, 1): 81, (12, 0): 80, (11, 8): 78}  # fmt: skip


class ToolMissing(MeasureError):
    """An offline compiler is not installed; the message says how to install it."""

    code = "tool_missing"


@dataclass(frozen=True, slots=True)
class Tools:
    """What compiles for NVIDIA or AMD. `version` changes whenever results may."""

    clang: Path
    ptxas: Path | None
    math_library: Path | None  # bitcode of libdevice or OCML; None: stand-ins of our own, AMD only
    ptx_version: int  # 88 for PTX ISA 8.8; 0 where not needed
    version: str


def find_tools(vendor: Vendor) -> Tools:
    """Return the tools for `vendor`, NVIDIA or AMD. Raises ToolMissing."""
    clang = _clang()
    if clang is None:
        raise ToolMissing(f"there is no offline compiler for GPUs (clang of the package ziglang): {install_hint()}")
    version = f"clang {_version_of(clang, ('clang', '--version'))}"
    if vendor is Vendor.AMD:
        library = _first(_ocml_places())
        return Tools(clang, None, library, 0, f"{version}, {'OCML' if library else 'own mathematics'}")
    ptxas, libdevice = _first(_ptxas_places()), _first(_libdevice_places())
    if ptxas is None or libdevice is None:
        missing = "assembler ptxas" if ptxas is None else "library libdevice"
        raise ToolMissing(f"NVIDIA's {missing} (of the package nvidia-cuda-nvcc-cu12) is missing: {install_hint()}")
    cuda = _version_of(ptxas, ("--version",))
    major, minor = (int(part) for part in cuda.split(".")[:2])
    ptx_version = next((ptx for since, ptx in _PTX_SINCE.items() if (major, minor) >= since), 0)
    if not ptx_version:
        raise ToolMissing(f"{ptxas} is of CUDA {cuda}, and 11.8 or later is needed: {install_hint()}")
    return Tools(clang, ptxas, libdevice, ptx_version, f"{version}, ptxas {cuda}")


def install_hint() -> str:
    return install_command(EXTRA)


def run_tool(
    command: Sequence[str], stdin: bytes, limit_s: float, folder: Path | None = None
) -> tuple[int, bytes, str]:
    """Run one tool, in `folder` if given, and return its exit status, output and messages. Raises TimedOut."""
    environment = {**os.environ, "LC_ALL": "C"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        start_new_session=True, cwd=folder,
    ) as process:  # fmt: skip
        try:
            output, messages = process.communicate(stdin, timeout=limit_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                name = Path(command[0]).name
                raise TimedOut(f"the compiler ({name}) did not finish within {limit_s:.0f} s") from None
            raise
    return process.returncode, output, messages.decode("utf-8", "replace")


def _clang() -> Path | None:
    """`zig clang` of the package ziglang; see `clang_command`."""
    return _first(folder / "ziglang" / name for folder in _site_packages() for name in ("zig", "zig.exe"))


def clang_command(tools: Tools) -> list[str]:
    """Return how the compiler proper is called."""
    return [str(tools.clang), "clang", "-cc1"]


def _ptxas_places() -> Iterator[Path]:
    for folder in _site_packages():
        # CUDA 12 first: CUDA 13 no longer assembles for Maxwell, Pascal and Volta.
        yield folder / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
        yield from sorted(folder.glob("nvidia/cu*/bin/ptxas"), reverse=True)
    on_path = shutil.which("ptxas")
    if on_path:
        yield Path(on_path)


def _libdevice_places() -> Iterator[Path]:
    name = Path("nvvm") / "libdevice" / "libdevice.10.bc"
    for folder in _site_packages():
        yield folder / "nvidia" / "cuda_nvcc" / name
        yield from sorted(path / name for path in folder.glob("nvidia/cu*"))
    yield Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda") / name


def _ocml_places() -> Iterator[Path]:
    """ROCm itself, or Triton, whose wheel brings the same file."""
    yield Path(os.environ.get("ROCM_PATH") or "/opt/rocm") / "amdgcn" / "bitcode" / "ocml.bc"
    for folder in _site_packages():
        yield folder / "triton" / "backends" / "amd" / "lib" / "ocml.bc"


def _site_packages() -> Iterator[Path]:
    """Where this Python's packages lie, without importing any of them."""
    named = (sysconfig.get_paths()[key] for key in ("purelib", "platlib"))
    yield from (Path(folder) for folder in dict.fromkeys((*named, *sys.path)) if folder.endswith("-packages"))


def _first(places: Iterator[Path]) -> Path | None:
    return next((place for place in places if place.is_file()), None)


@lru_cache(maxsize=8)
def _version_of(program: Path, arguments: tuple[str, ...]) -> str:
    """Return the first number with dots that a program says of itself. Raises ToolMissing."""
    try:
        _, output, messages = run_tool([str(program), *arguments], b"", 20.0)
    except OSError as error:
        raise ToolMissing(f"{program} cannot be run: {error.strerror}; reinstall it: {install_hint()}") from None
    found = re.search(r"(?:V|version )(\d+\.\d+(?:\.\d+)*)", output.decode("utf-8", "replace") + messages)
    if found is None:
        raise ToolMissing(f"{program} does not say its version; reinstall it: {install_hint()}")
    return found[1]
