"""What an offline compiler made of one kernel, in the same terms for all vendors."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.machine_code.instruction import Instruction


@dataclass(frozen=True, slots=True)
class CompiledCode:
    """Registers are of a work-item (scalar ones of a wave), private memory and spills of a work-item, local of a group.

    `spill_bytes` is what the assembler reports: NVIDIA's the larger of stores and loads in the code, AMD's the bytes
    that spilled registers take.
    """

    registers: int
    scalar_registers: int
    spill_bytes: int
    private_mem_bytes: int
    local_mem_bytes: int
    code_bytes: int | None
    instructions: tuple[Instruction, ...]
    accumulator_registers: int = 0
    wave_size: int = 32
