"""AMD's targets: LLVM's assembly language tells registers, spills and local memory itself."""

from __future__ import annotations

from model.architectures import Architecture
from profiler.machine_code.amd_isa import read_amd_isa, undefined_functions
from profiler.offline.clang import Text, refuse_unknown
from profiler.offline.code import CompiledCode
from profiler.offline.tools import Tools

_BYTES = 4  # of a register in one lane


def read_kernels(assembly: str, text: Text, architecture: Architecture, tools: Tools) -> dict[str, CompiledCode]:
    """Return what each kernel of a program became. Raises UnknownFunctions."""
    del architecture, tools
    refuse_unknown(undefined_functions(assembly), text)
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
        for name, code in read_amd_isa(assembly).items()
    }
