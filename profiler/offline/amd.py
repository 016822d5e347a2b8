"""AMD's targets: LLVM's assembly language tells registers, spills and local memory itself."""

from __future__ import annotations

from model.compile_targets import CompileTarget
from profiler.machine_code.amd_isa import AmdCode, read_amd_isa, undefined_functions
from profiler.offline.clang import Text, refuse_unknown
from profiler.offline.code import CompiledCode
from profiler.offline.diagnostics import Diagnostic, DoesNotCompile
from profiler.offline.tools import Tools

_BYTES = 4  # of a register in one lane


def read_kernels(assembly: str, text: Text, architecture: CompileTarget, tools: Tools) -> dict[str, CompiledCode]:
    """Return what each kernel of a program became. Raises UnknownFunctions, or DoesNotCompile for images on CDNA3."""
    del tools
    refuse_unknown(undefined_functions(assembly), text)
    codes = read_amd_isa(assembly)
    if not architecture.has_images:
        _refuse_images(codes, text, architecture)
    return {
        name: CompiledCode(
            registers=code.vector_registers,
            scalar_registers=code.scalar_registers,
            spill_bytes=_BYTES * code.spilled_vector_registers,
            private_mem_bytes=code.private_bytes,
            local_mem_bytes=code.local_bytes,
            code_bytes=code.code_bytes,
            instructions=code.instructions,
            accumulator_registers=code.accumulator_registers,
            wave_size=code.wave_size,
        )
        for name, code in codes.items()
    }


def _refuse_images(codes: dict[str, AmdCode], text: Text, architecture: CompileTarget) -> None:
    """LLVM writes image instructions for these targets, too, which the hardware does not have."""
    said = f"{architecture.target} ({architecture.family}) has no images"
    found = [
        Diagnostic(each.place[0], each.place[1], 1, True, said)
        for code in codes.values()
        for each in code.instructions
        if each.space == "image" and each.place is not None
    ]
    if found:
        first = found[0]
        message = f"{text.name} does not compile for {architecture.target}: line {first.line}: {said}"
        raise DoesNotCompile(message, tuple(dict.fromkeys(found)), line=first.line if first.file == text.name else None)
