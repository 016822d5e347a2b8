"""How many work-groups a GPU's core holds at a time, and what limits that: registers, local memory, work-items, groups.

Where a compiler's allotment is known (`model.compiled_occupancy`), that counts; elsewhere registers are estimated.
Compilers need fewer than variables that live at once: what is the same for all work-items lies in constant banks or
scalar registers, and cheap values are computed again. Of 507 kernels (silx 3.1.3, darktable 4.2.1, our own tests') the
estimate over what clang and ptxas 12.9 allot for sm_80 is 1.02 in the median, 0.63 to 1.45 from the 10th to the 90th
percentile, and with 256 work-items as many groups are resident for 90 %. Of what clang 22 allots for gfx90a it is 1.00
in the median, 0.39 to 1.60. It is too low above all where compilers unroll loops and have many loads under way.

Source: NVIDIA, "CUDA C++ Programming Guide", multiprocessor level; AMD, "RDNA Performance Guide", occupancy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.architectures import Architecture
from model.compiled_occupancy import OfflineFacts
from model.opencl.types import AddressSpace
from model.work.work_counts import WorkCounts

VARIABLES_SHARE = 0.7  # of the registers that the source's variables would take
OWN_REGISTERS = 4  # of a work-item, for addresses and the like, beyond what the source names
SCALAR_REGISTERS = 8  # fewer on AMD's chips, where a wave has registers of its own for what its work-items share
LEAST_REGISTERS = 8
_AMD = ("gcn", "cdna", "rdna", "generic-amd")


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`groups` that one core holds at a time, and which limit says so."""

    groups: int
    limit: str
    registers: float  # of a work-item
    warps_per_group: int

    def share(self, architecture: Architecture) -> float:
        """Return the share of the work-items that a core can hold at most."""
        held = self.groups * self.warps_per_group * architecture.warp_width
        return min(1.0, held / architecture.max_items_per_core)


def occupancy(work: WorkCounts, architecture: Architecture, code: OfflineFacts | None = None) -> Occupancy:
    """Return how many groups a core holds: at least one, since what does not fit is spilled."""
    items = max(1.0, work.work_items / max(1, work.work_groups))
    warps = max(1, math.ceil(items / architecture.warp_width))
    if code is not None:
        return Occupancy(max(1, code.occupancy.groups), str(code.occupancy.limiter), float(code.registers), warps)
    lanes = warps * architecture.warp_width
    registers = min(registers_needed(work, architecture), architecture.max_registers_per_item)
    limits = {
        "registers": architecture.registers_per_core / (registers * lanes),
        "local memory": architecture.local_bytes_per_core / max(1, work.local_bytes_per_group),
        "work-items": architecture.max_items_per_core / lanes,
        "work-groups": float(_most_groups(warps, architecture)),
    }
    limit = min(limits, key=lambda name: limits[name])
    return Occupancy(max(1, int(limits[limit])), limit, registers, warps)


def _most_groups(warps: int, architecture: Architecture) -> int:
    """Return the limit on work-groups; AMD's groups of one wave need no barrier slot and are not limited by those."""
    if warps == 1 and architecture.name.startswith(_AMD):
        return architecture.max_items_per_core // architecture.warp_width
    return architecture.max_groups_per_core


def registers_needed(work: WorkCounts, architecture: Architecture) -> float:
    """32-bit registers of a work-item, with the private arrays that fit; more than there are where it spills."""
    own, arrays = _own_registers(work, architecture), work.facts.promotion.registers
    return own + arrays if own + arrays <= architecture.max_registers_per_item else own


def _own_registers(work: WorkCounts, architecture: Architecture) -> float:
    scalars = SCALAR_REGISTERS if architecture.name.startswith(_AMD) else 0
    return max(LEAST_REGISTERS, VARIABLES_SHARE * work.facts.registers + OWN_REGISTERS - scalars)


def arrays_in_registers(
    work: WorkCounts, architecture: Architecture, code: OfflineFacts | None = None
) -> frozenset[str]:
    """Return the private arrays that take no time of their own."""
    promoted = work.facts.promotion
    if code is not None:
        if code.array_bytes:
            return promoted.arrays
        return frozenset(access.buffer for access in work.accesses if access.space is AddressSpace.PRIVATE)
    fits = _own_registers(work, architecture) + promoted.registers <= architecture.max_registers_per_item
    return promoted.arrays if fits else frozenset()
