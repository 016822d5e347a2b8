"""PoCL's machine code for a local size, without a launch: what goes into a program's binary lies in its cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from model.compiled import CompiledFacts, is_small_grid
from model.launch.driver_choice import effective_local_size
from profiler.device_worker.compilers.reader import Built, Reader, no_disassembler, with_code, with_warning

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest

ANY_SIZE = "0-0-0"  # for any local size; PoCL always makes this, too


def environment(requests: Iterable[CompileRequest], folder: str) -> dict[str, str]:
    """To be set before PoCL is loaded. Source: its documentation, "Environment variables"."""
    return {
        "POCL_CACHE_DIR": folder,
        "POCL_KERNEL_CACHE": "1",
        "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES": "1",  # object files beside the libraries made of them
        "POCL_BINARY_SPECIALIZE_WG": ",".join(sorted({_variant(request) for request in requests})),
    }


def _read(request: CompileRequest, built: Built, facts: CompiledFacts) -> CompiledFacts:
    _ = built.binary  # compiles all kernels for the wanted sizes, the first time it is asked for
    name, variant = request.kernel.name, _variant(request)
    path = _object_file(built.folder, name, variant)
    if path is not None:
        facts = replace(facts, code_local_size=_local_size(request))
    else:
        path = _object_file(built.folder, name, ANY_SIZE)
        facts = with_warning(facts, "PoCL left no code for this local size: what is told is of its code for any size")
    if path is None:
        return with_warning(facts, "PoCL left no code of this kernel in its cache")
    return with_object_code(facts, path, request)


def with_object_code(facts: CompiledFacts, path: Path, request: CompileRequest) -> CompiledFacts:
    """With what an object file tells that PoCL left in its cache."""
    try:
        from profiler.machine_code.elf import UnreadableCode, functions_of  # noqa: PLC0415  may be missing
    except ImportError:
        return with_warning(facts, no_disassembler())
    name = request.kernel.name
    try:
        # The function that PoCL calls holds the same code once more, without lines.
        found = functions_of(path.read_bytes(), lambda symbol: symbol == f"_pocl_kernel_{name}")
    except UnreadableCode as error:
        return with_warning(facts, str(error))
    if not found:
        return with_warning(facts, "PoCL's object file holds no function of this kernel")
    return with_code(facts, found[0].instructions, found[0].size_bytes, request)


def _variant(request: CompileRequest) -> str:
    """Return the folder in PoCL's cache: the local size, no global offset, and whether the grid is small."""
    sizes = "-".join(map(str, _local_size(request)))
    return f"{sizes}-goffs0" + ("-smallgrid" if is_small_grid(request.launch) else "")


def _local_size(request: CompileRequest) -> tuple[int, ...]:
    return (*effective_local_size(request.launch, request.kernel), 1, 1)[:3]


def _object_file(folder: Path, kernel: str, variant: str) -> Path | None:
    return next(folder.glob(f"**/{kernel}/{variant}/*.so.o"), None)


READER = Reader(_read, line_flags=("-g",))  # the code stays byte for byte the same
