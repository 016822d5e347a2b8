"""A kernel's machine code on a CPU, as predictions by the analytical model take it."""

from __future__ import annotations

from dataclasses import dataclass

from model.compiled import CompiledFacts
from model.compiled_occupancy import OfflineFacts


@dataclass(frozen=True, slots=True, eq=False)
class CpuCode:
    """Facts that are the same object as long as they are the same: comparing thousands of instructions takes long."""

    facts: CompiledFacts


KnownCode = OfflineFacts | CpuCode  # what is known of a kernel's code on a device
