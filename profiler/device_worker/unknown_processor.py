"""Let PoCL build for processors that are newer than its compiler.

LLVM names processors by tables. Where it does not find this one, as LLVM 14 does not find AMD's Zen 5, it answers
`generic`, PoCL hands that on, and LLVM refuses it: "unknown target CPU 'generic'". No kernel builds then, and PoCL 3.0
has no setting for the name. We let PoCL's function answer with the newest processor in the tables that has the same
instructions. Sources: PoCL's issue 1049; `pocl_get_llvm_cpu_name` in lib/CL/pocl_llvm_utils.cc; `getHostCPUName` in
LLVM 14's lib/Support/Host.cpp.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

UNKNOWN = b"generic"
_FUNCTION = "pocl_get_llvm_cpu_name"
_CPU_INFO = Path("/proc/cpuinfo")
# The last families in LLVM 14's tables: of these makers it knows all that came before, or guesses by instructions.
_LAST_FAMILY = {"GenuineIntel": 15, "AuthenticAMD": 0x19}
# Newest first; each with the instructions that its code may use, as /proc/cpuinfo spells them.
_HASWELL = frozenset({"avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe", "popcnt"})
_KNOWN: tuple[tuple[str, Collection[str]], ...] = (
    ("znver3", _HASWELL | {"sse4a", "adx", "sha_ni", "vaes", "vpclmulqdq", "clzero"}),
    ("haswell", _HASWELL),
    ("x86-64", ()),
)
_kept: list[ctypes.Array[ctypes.c_char]] = []  # names that the function answers with, for as long as the process runs


def name_processor() -> str | None:
    """Return the processor that PoCL builds for from now on, if its compiler does not know the one that is here.

    To be called before OpenCL's loader runs, which may ask PoCL for its devices. None: there is no PoCL, or it knows
    the processor, or its code cannot be changed: then its builds fail as before.
    """
    if platform.machine().lower() not in ("x86_64", "amd64") or is_old(facts := processor_facts()):
        return None
    name, named = nearest_known(facts.get("flags", "").split()), False
    for library in pocl_libraries():
        with suppress(OSError, AttributeError):  # not to be loaded, or without that function: the loader's affair
            function = getattr(ctypes.CDLL(library), _FUNCTION)
            function.restype = ctypes.c_char_p
            if function() == UNKNOWN:
                named |= _answer_with(ctypes.cast(function, ctypes.c_void_p).value or 0, name)
    return name if named else None


def processor_facts() -> dict[str, str]:
    """Return the first processor of /proc/cpuinfo; empty where the system has no such file."""
    with suppress(OSError):
        first = _CPU_INFO.read_text().partition("\n\n")[0].splitlines()
        return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first)}
    return {}


def is_old(facts: Mapping[str, str]) -> bool:
    """Return whether LLVM 14 names this processor; True where nothing is known of it."""
    family = facts.get("cpu family", "")
    return not family.isdecimal() or int(family) <= _LAST_FAMILY.get(facts.get("vendor_id", ""), -1)


def nearest_known(flags: Collection[str]) -> str:
    """Return the newest processor of LLVM 14 all of whose instructions are among these flags of /proc/cpuinfo."""
    return next(name for name, needs in _KNOWN if set(needs) <= set(flags))


def pocl_libraries() -> Iterator[str]:
    """Yield the PoCL libraries that OpenCL's loader will load: PyOpenCL's embedded one, and those of the system."""
    folders = [Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")]
    if (package := find_spec("pyopencl")) and package.origin:
        folders.append(Path(package.origin).parent / ".libs")
    for file in (file for folder in folders if folder.is_dir() for file in sorted(folder.glob("*.icd"))):
        with suppress(OSError):
            name = file.read_text("utf-8", "replace").strip()
            if "pocl" in name:
                beside = file.parent / name
                yield str(beside if beside.exists() else name)


def _answer_with(address: int, name: str) -> bool:
    """Put `return strdup(name)` over the code at `address`; return whether the system allows it.

    Invariant: PoCL frees what the function returns, so each call needs a copy of its own.
    """
    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    text = ctypes.create_string_buffer(name.encode())
    strdup = ctypes.cast(libc.strdup, ctypes.c_void_p).value or 0
    move_rdi, move_rax, jump_rax = b"\x48\xbf", b"\x48\xb8", b"\xff\xe0"
    code = move_rdi + _absolute(ctypes.addressof(text)) + move_rax + _absolute(strdup) + jump_rax
    page = address - address % mmap.PAGESIZE
    size = address + len(code) - page
    if libc.mprotect(page, size, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC):
        return False
    ctypes.memmove(address, code, len(code))
    libc.mprotect(page, size, mmap.PROT_READ | mmap.PROT_EXEC)
    _kept.append(text)
    return True


def _absolute(address: int) -> bytes:
    return address.to_bytes(8, "little")
