"""Find Intel's and Arm's offline compilers, which vendors and distributions install and pip does not."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from profiler.measurement import TimedOut
from profiler.offline.tools import ToolMissing, install_hint, run_tool

_LIMIT_S = 20.0
_READERS = ("elftools", "yaml")  # of the packages pyelftools and PyYAML, which read Intel's binary
_OCLOC_HINT = (
    "install Intel's compute runtime (Debian and Ubuntu: apt install intel-opencl-icd, or intel-ocloc if there is one; "
    "else https://github.com/intel/compute-runtime/releases)"
)
_MALIOC_HINT = (
    "install Arm Performance Studio (https://developer.arm.com/Tools%20and%20Software/Arm%20Performance%20Studio) "
    "and put the folder of malioc on PATH"
)
DISASSEMBLER_HINT = "install iga64 (Debian and Ubuntu: apt install libigc-tools)"


@dataclass(frozen=True, slots=True)
class IntelTools:
    """`version` changes whenever results may. Without `disassembler` the instructions of kernels are not known."""

    compiler: Path
    disassembler: Path | None
    version: str


@dataclass(frozen=True, slots=True)
class ArmTools:
    """`version` changes whenever results may."""

    compiler: Path
    version: str


def find_intel_tools() -> IntelTools:
    """Return `ocloc`, and `iga64` where it is installed. Raises ToolMissing."""
    found = shutil.which("ocloc")
    if found is None:
        raise ToolMissing(f"Intel's offline compiler ocloc is not on PATH: {_OCLOC_HINT}")
    if any(find_spec(name) is None for name in _READERS):
        raise ToolMissing(f"what reads the binaries of ocloc (pyelftools, PyYAML) is missing: {install_hint()}")
    iga64 = shutil.which("iga64")
    compiler = Path(found).absolute()  # it runs in a folder of its own
    version = f"ocloc {_ocloc_version(compiler)}"
    if iga64 is None:
        return IntelTools(compiler, None, version)
    disassembler = Path(iga64).absolute()
    return IntelTools(compiler, disassembler, f"{version}, iga64 {_iga_version(disassembler)}")


def find_arm_tools() -> ArmTools:
    """Return `malioc`. Raises ToolMissing."""
    found = shutil.which("malioc")
    if found is None:
        raise ToolMissing(f"Arm's offline compiler malioc is not on PATH: {_MALIOC_HINT}")
    compiler = Path(found).absolute()
    return ArmTools(compiler, f"malioc {_malioc_version(compiler)}")


def need_newer_ocloc(tools: IntelTools, target: str) -> ToolMissing:
    """Return the error for a target that is newer than the compiler, or that it no longer knows."""
    return ToolMissing(f"{tools.version.partition(',')[0]} does not know {target}, another version may: {_OCLOC_HINT}")


@lru_cache(maxsize=4)
def _ocloc_version(program: Path) -> str:
    """Return the driver's version, which `ocloc query` writes into a file where it runs. Raises ToolMissing."""
    query = "OCL_DRIVER_VERSION"
    with tempfile.TemporaryDirectory(prefix="kernelcast-") as folder:
        said = _run(program, ("query", query), _OCLOC_HINT, Path(folder))
        file = Path(folder, query)
        return _number_in((file.read_text("utf-8", "replace") if file.is_file() else "") + said, program, _OCLOC_HINT)


@lru_cache(maxsize=4)
def _iga_version(program: Path) -> str:
    """Return the version of Intel's disassembler. Raises ToolMissing."""
    return _number_in(_run(program, ("--help",), DISASSEMBLER_HINT), program, DISASSEMBLER_HINT)


@lru_cache(maxsize=4)
def _malioc_version(program: Path) -> str:
    """Return the version of Arm's compiler. Raises ToolMissing."""
    return _number_in(_run(program, ("--version",), _MALIOC_HINT), program, _MALIOC_HINT)


def _run(program: Path, arguments: tuple[str, ...], hint: str, folder: Path | None = None) -> str:
    try:
        _, output, messages = run_tool([str(program), *arguments], b"", _LIMIT_S, folder)
    except OSError as error:
        raise ToolMissing(f"{program} cannot be run ({error.strerror}): {hint}") from None
    except TimedOut:
        raise ToolMissing(f"{program} does not answer: {hint}") from None
    return output.decode("utf-8", "replace") + messages


def _number_in(said: str, program: Path, hint: str) -> str:
    found = re.search(r"\d+(?:\.\d+)+", said)
    if found is None:
        raise ToolMissing(f"{program} does not say its version, and may lack libraries: {hint}")
    return found[0]
