"""A launch on a GPU's compute units: what each level of memory carries, how many groups fit, how the last wave ends.

The laws take each access by itself. Here are what lanes, warps and groups have in common: bytes that a group asks for
again come from its unit's own cache, lanes of a warp share sectors, and registers and local memory limit how many
groups a unit holds at once. Logarithms of base 2; times in microseconds.
Sources: "CUDA C++ Programming Guide" (hardware multithreading, coalescing), "RDNA Performance Guide".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.bandwidth import bandwidth_gb_s
from model.device import Device
from model.laws import OVERLAP_NORM
from model.opencl.types import AddressSpace
from model.work.access_facts import GLOBAL_SPACES
from model.work.counts import OpKind, WorkCounts

# What profiles do not say and most GPUs of the last ten years have, for each compute unit.
UNIT_REGISTERS = 65_536
UNIT_ITEMS = 2_048
UNIT_GROUPS = 32
UNIT_LOCAL_BYTES = 98_304
UNIT_CACHE_BYTES = 65_536
MOST_REGISTERS, LEAST_REGISTERS = 255, 16  # of a work-item
OWN_REGISTERS = 8  # for addresses and the like, beyond what the source names
WARP, LINE_BYTES, SECTOR_BYTES, LANE_BYTES = 32, 128, 32, 4
LEAST_US = 2.0**-20

PARTS = ("memory_us", "l2_us", "l1_us", "local_us", "issue_us", "convert_us", "special_us", "constant_us")
TIMES = (*PARTS, "slowest_us", "together_us")
PLACEMENT = (
    "occupancy", "resident_groups", "waves", "last_wave", "idle_lanes", "groups_per_unit", "warps_per_group",
    "registers", "spilled", "held_by_registers", "held_by_local", "held_by_items",
)  # fmt: skip
REUSE = (
    "sectors_over_needed", "bank_conflicts", "group_bytes_in_cache", "resident_bytes_in_cache", "launch_bytes_in_l2",
    "reuse_in_group", "reuse_between_groups", "loads_per_operation", "imbalance", "divergence",
)  # fmt: skip
GPU_FACT_NAMES = (*TIMES, *PLACEMENT, *REUSE)


@dataclass(frozen=True, slots=True)
class Placement:
    """How work-groups sit on compute units."""

    registers: float  # of a work-item, estimated
    warps_per_group: int
    resident_groups: int  # on one unit at a time
    waves: float  # rounds of groups over the whole device
    limits: tuple[float, float, float]  # groups that registers, local memory and work-items would each let in

    @property
    def last_wave(self) -> float:
        """How full the waves are on average: 1 = the last one as full as the others."""
        return self.waves / math.ceil(self.waves)


def placement(counts: WorkCounts, device: Device) -> Placement:
    groups = max(1, counts.work_groups)
    items = counts.work_items / groups
    warps = max(1, math.ceil(items / device.preferred_multiple))
    lanes = warps * device.preferred_multiple
    registers = min(MOST_REGISTERS, max(LEAST_REGISTERS, counts.facts.registers + OWN_REGISTERS))
    limits = (
        UNIT_REGISTERS / (registers * lanes),
        UNIT_LOCAL_BYTES / max(1, counts.local_bytes_per_group),
        UNIT_ITEMS / lanes,
    )
    resident = max(1, int(min(UNIT_GROUPS, *limits)))
    return Placement(registers, warps, resident, groups / (resident * device.core_count), limits)


def gpu_facts(counts: WorkCounts, device: Device) -> tuple[float, ...]:
    """In the order of GPU_FACT_NAMES; finite. For GPUs: on a CPU they say nothing."""
    placed = placement(counts, device)
    facts = counts.facts
    groups = max(1, counts.work_groups)
    lanes = placed.warps_per_group * device.preferred_multiple
    items = counts.work_items / groups
    idle = lanes / max(1.0, items)
    requested = counts.global_load_bytes + counts.global_store_bytes
    group_bytes, launch_bytes = facts.group.line_bytes, facts.launch.line_bytes
    operations = sum(op.count for op in counts.ops)
    loads = sum(a.count * _words(a.element_bytes) for a in counts.accesses if a.space is not AddressSpace.PRIVATE)
    times = _times_us(counts, device, idle)
    found = {
        **times,
        "slowest_us": max(times.values()),
        "together_us": device.rates.launch_floor_us
        + sum(t**OVERLAP_NORM for t in times.values()) ** (1 / OVERLAP_NORM),
        "occupancy": placed.resident_groups * lanes / UNIT_ITEMS,
        "resident_groups": placed.resident_groups,
        "waves": placed.waves,
        "last_wave": placed.last_wave,
        "idle_lanes": idle,
        "groups_per_unit": groups / device.core_count,
        "warps_per_group": placed.warps_per_group,
        "registers": placed.registers,
        "spilled": max(1.0, facts.registers / MOST_REGISTERS),
        **dict(zip(("held_by_registers", "held_by_local", "held_by_items"), placed.limits, strict=True)),
        "sectors_over_needed": facts.transaction_factor or 1.0,
        "bank_conflicts": facts.bank_conflict_degree or 1.0,
        "group_bytes_in_cache": group_bytes / UNIT_CACHE_BYTES,
        "resident_bytes_in_cache": placed.resident_groups * group_bytes / UNIT_CACHE_BYTES,
        "launch_bytes_in_l2": launch_bytes / max(1, device.cache_bytes),
        "reuse_in_group": requested / max(1.0, groups * group_bytes),
        "reuse_between_groups": groups * group_bytes / max(1.0, launch_bytes),
        "loads_per_operation": loads / max(1.0, operations),
        "imbalance": facts.group_imbalance or 1.0,
        "divergence": 1.0 + facts.divergence,
    }
    return tuple(math.log2(min(max(found[name], LEAST_US), 1e30)) for name in GPU_FACT_NAMES)


def _times_us(counts: WorkCounts, device: Device, idle: float) -> dict[str, float]:
    """What each part of the GPU is busy at least, all units together."""
    rates, facts = device.rates, counts.facts
    unit_gop_s = device.core_count * device.clock_mhz / 1000  # one a clock and unit
    lanes_gop_s = rates.fp32_gflop_s / 2
    far_gb_s = bandwidth_gb_s(1 << 31, rates)[0]
    l2_gb_s = max(far_gb_s, bandwidth_gb_s(device.cache_bytes / 2, rates)[0])
    cycles = constant = local = words = 0.0  # cycles are of one unit: lines that the caches give out
    for access in facts.accesses:
        count = access.count
        words += count.count * _words(count.element_bytes)
        if count.space is AddressSpace.LOCAL:
            degree = access.bank_conflict_degree or 1.0
            local += count.count / WARP * max(_words(count.element_bytes), degree)
        elif count.space is AddressSpace.CONSTANT:
            constant += count.count / WARP
        elif count.space in GLOBAL_SPACES:
            known = access.transactions
            lines = known.lines if known is not None else WARP
            cycles += count.count / WARP * max(lines, WARP * count.element_bytes / LINE_BYTES)
    near_bytes = cycles * LINE_BYTES
    group_bytes = max(1, counts.work_groups) * facts.group.line_bytes
    ops = {kind: sum(op.count for op in counts.ops if op.kind is kind) for kind in OpKind}
    # NVIDIA's units convert where they compute sines; AMD's lanes do it as they add.
    convert_gop_s = lanes_gop_s if "AMD" in device.platform else rates.native_gop_s
    costly = ops[OpKind.SPECIAL] + ops[OpKind.NATIVE] + ops[OpKind.DIVIDE] + ops[OpKind.SQRT]
    return {
        "memory_us": 1e-3 * facts.launch.line_bytes / far_gb_s,
        "l2_us": 1e-3 * min(near_bytes, group_bytes) / l2_gb_s,
        "l1_us": 1e-3 * cycles / unit_gop_s,
        "local_us": 1e-3 * local / unit_gop_s,
        "issue_us": 1e-3 * idle * (sum(ops.values()) + words) / lanes_gop_s,
        "convert_us": 1e-3 * idle * ops[OpKind.CONVERT] / convert_gop_s,
        "special_us": 1e-3 * idle * costly / rates.native_gop_s,
        "constant_us": 1e-3 * constant / unit_gop_s,
    }


def _words(element_bytes: int) -> float:
    return max(1.0, element_bytes / LANE_BYTES)
