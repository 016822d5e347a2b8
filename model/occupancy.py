"""How many work-groups a GPU's core holds at a time, and what limits that: registers, local memory, work-items, groups.

Source: NVIDIA, "CUDA C++ Programming Guide", multiprocessor level; AMD, "RDNA Performance Guide", occupancy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.architectures import Architecture
from model.work.counts import WorkCounts

OWN_REGISTERS = 8  # of a work-item, for addresses and the like, beyond what the source names
LEAST_REGISTERS = 16


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`groups` that one core holds at a time, and which limit says so."""

    groups: int
    limit: str
    registers: float  # of a work-item
    warps_per_group: int

    def share(self, architecture: Architecture) -> float:
        """The share of the work-items that a core can hold at most."""
        held = self.groups * self.warps_per_group * architecture.warp_width
        return min(1.0, held / architecture.max_items_per_core)


def occupancy(work: WorkCounts, architecture: Architecture) -> Occupancy:
    """At least one group: what does not fit is spilled."""
    items = max(1.0, work.work_items / max(1, work.work_groups))
    warps = max(1, math.ceil(items / architecture.warp_width))
    lanes = warps * architecture.warp_width
    registers = min(registers_needed(work, architecture), architecture.max_registers_per_item)
    limits = {
        "registers": architecture.registers_per_core / (registers * lanes),
        "local memory": architecture.local_bytes_per_core / max(1, work.local_bytes_per_group),
        "work-items": architecture.max_items_per_core / lanes,
        "work-groups": float(architecture.max_groups_per_core),
    }
    limit = min(limits, key=lambda name: limits[name])
    return Occupancy(max(1, int(limits[limit])), limit, registers, warps)


def registers_needed(work: WorkCounts, architecture: Architecture) -> float:
    """32-bit registers of a work-item, with the private arrays that fit; more than there are where it spills."""
    own = max(LEAST_REGISTERS, work.facts.registers + OWN_REGISTERS)
    arrays = work.facts.promotion.registers
    return own + arrays if own + arrays <= architecture.max_registers_per_item else own


def arrays_in_registers(work: WorkCounts, architecture: Architecture) -> frozenset[str]:
    """The private arrays that take no time of their own."""
    promoted = work.facts.promotion
    fits = work.facts.registers + OWN_REGISTERS + promoted.registers <= architecture.max_registers_per_item
    return promoted.arrays if fits else frozenset()
