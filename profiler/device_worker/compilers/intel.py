"""Intel's runtime for CPUs: a program's binary holds native code, and its build log says how wide kernels became."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from model.compiled import CodeSource, CompiledFacts
from profiler.device_worker.compilers.reader import Built, Reader, no_disassembler, with_code, with_warning
from profiler.machine_code.compiler_log import items_side_by_side

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest


def _read(request: CompileRequest, built: Built, facts: CompiledFacts) -> CompiledFacts:
    name = request.kernel.name
    items = items_side_by_side(built.log, name)
    if items is not None:
        facts = replace(facts, items_side_by_side=items, source=CodeSource.LOG)
    try:
        from profiler.machine_code.elf import UnreadableCode, functions_of, section_of  # noqa: PLC0415  may be missing
    except ImportError:
        return with_warning(facts, no_disassembler())
    try:
        code = section_of(built.binary, ".ocl.obj")
        found = functions_of(code, lambda symbol: symbol == name or _is_vector_version(symbol, name))
    except UnreadableCode as error:
        return with_warning(facts, str(error))
    if not found:
        return with_warning(facts, "the program's binary holds no code of this kernel")
    # `_ZGVeN16uuu_name` is the kernel for 16 work-items, where there is one; the other then does what is left over.
    main = next((each for each in found if each.name != name), found[0])
    return with_code(facts, main.instructions, sum(f.size_bytes for f in found), request)


def _is_vector_version(symbol: str, kernel: str) -> bool:
    """Named as in the vector function ABI of x86-64, sec. 2.6."""
    return symbol.startswith("_ZGV") and symbol.partition("_ZGV")[2].partition("_")[2] == kernel


READER = Reader(_read)
