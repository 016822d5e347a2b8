"""OpenCL C's functions for a family of targets as bitcode: compiled once, kept in the user's cache.

Linking takes 10 ms for each 1,000 functions of a module, called or not. So they are in parts, of which a program gets
those that it calls: of AMD's 11,700 functions most programs need the 3,800 of the core. No part needs another one.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from platformdirs import user_cache_path

from model.compile_targets import Vendor
from profiler.measurement import MeasureError
from profiler.offline.tools import Tools, clang_command, run_tool

SOURCES = Path(__file__).parent / "opencl"
LIMIT_S = 300.0  # it takes some ten seconds on a quiet machine
_TRIPLES = {Vendor.NVIDIA: "nvptx64-nvidia-cuda", Vendor.AMD: "amdgcn-amd-amdhsa"}


class Part(StrEnum):
    """Modules of the library."""

    CORE = "core"  # work-items, mathematics, integers
    CONVERSIONS = "conversions"
    MEMORY = "memory"  # atomics, loads and stores of vectors, copies of groups, images


# Names of functions as LLVM's intermediate code has them.
_OF_PART = {
    Part.CONVERSIONS: re.compile(rb"@_Z\d+convert_"),
    Part.MEMORY: re.compile(
        rb"@(?:_Z\d+)?(?:vload|vstore|async_|wait_group|atom|prefetch|get_image|read_image|write_image|get_fence"
        rb"|to_global|to_local|to_private|__to_|get_global_linear|get_local_linear|__translate_sampler)"
    ),
}


class LibraryFailed(MeasureError):
    """OpenCL C's functions could not be compiled, or there is no place to keep them."""

    code = "library"


def triple(vendor: Vendor) -> str:
    return _TRIPLES[vendor]


def parts_for(code: bytes) -> tuple[Part, ...]:
    """Return the parts that LLVM's intermediate code of a program may call."""
    return (Part.CORE, *(part for part, names in _OF_PART.items() if names.search(code)))


def built_part(part: Part, vendor: Vendor, tools: Tools) -> Path:
    """Return the bitcode's path, after compiling it if this machine has not yet. Raises LibraryFailed or TimedOut."""
    path = cache_folder() / f"library-{vendor}-{library_version(vendor, tools)}-{part}.bc"
    if not path.exists():
        _build(part, vendor, tools, path)
    return path


def library_version(vendor: Vendor, tools: Tools) -> str:
    """Return what names everything that the library was made of."""
    return hashlib.sha256(f"{_sources_version(vendor)} {vendor} {tools.version}".encode()).hexdigest()[:16]


@lru_cache(maxsize=2)
def _sources_version(vendor: Vendor) -> str:
    """Each vendor's files are named after its targets; the others are shared."""
    others = "_amdgcn" if vendor is Vendor.NVIDIA else "_nvptx"
    digest = hashlib.sha256()
    for file in sorted(SOURCES.iterdir()):
        if not file.stem.endswith(others):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_folder() -> Path:
    return user_cache_path("kernelcast", appauthor=False) / "offline"


def _build(part: Part, vendor: Vendor, tools: Tools, path: Path) -> None:
    """Write the file whole or not at all, whoever else builds it meanwhile."""
    command = [
        *clang_command(tools), "-triple", triple(vendor), *_target_flags(vendor, tools), "-x", "cl", "-cl-std=CL2.0",
        "-cl-ext=+all", "-O3", "-w", "-emit-llvm-bc", "-discard-value-names", f"-DKC_{part.upper()}",
        *(["-DKC_OCML"] if _has_ocml(vendor, tools) else []), str(SOURCES / "library.cl"), "-o", "-",
    ]  # fmt: skip
    status, bitcode, messages = run_tool(command, b"", LIMIT_S)
    if status != 0:
        raise LibraryFailed("OpenCL C's own functions do not compile; please report it", log=messages)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(bitcode)
        os.replace(file.name, path)
    except OSError as error:
        raise LibraryFailed(f"{path} cannot be written: {error.strerror}; make room there or set HOME") from None


def _target_flags(vendor: Vendor, tools: Tools) -> list[str]:
    """Return the oldest target of the family: what uses the library brings its own."""
    if vendor is Vendor.AMD:
        return []
    return ["-target-cpu", "sm_50", "-target-feature", f"+ptx{tools.ptx_version}"]


def _has_ocml(vendor: Vendor, tools: Tools) -> bool:
    return vendor is Vendor.AMD and tools.math_library is not None
