"""What an offline compiler made of one kernel, in the same terms for all vendors."""

from __future__ import annotations

from dataclasses import dataclass

from model.compiled import PipeCycles
from profiler.machine_code.instruction import Instruction


@dataclass(frozen=True, slots=True)
class CompiledCode:
    """Registers are of a work-item (scalar ones of a wave), private memory and spills of a work-item, local of a group.

    Intel's registers are of a hardware thread, which is a wave of `wave_size` work-items. `spill_bytes` is what the
    assembler reports: NVIDIA's the larger of stores and loads in the code, AMD's the bytes that spilled registers take,
    Intel's and Arm's the memory for them. `local_mem_bytes` is None where the compiler does not tell.
    """

    registers: int
    scalar_registers: int
    spill_bytes: int
    private_mem_bytes: int
    local_mem_bytes: int | None
    code_bytes: int | None
    instructions: tuple[Instruction, ...]
    accumulator_registers: int = 0
    wave_size: int = 32
    required_local_size: tuple[int, ...] | None = None
    pipes: tuple[PipeCycles, ...] = ()
    half_arithmetic_percent: float | None = None
    notes: tuple[str, ...] = ()  # what the compiler or its reader says of this kernel
