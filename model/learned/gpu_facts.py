"""A launch on a GPU's cores in numbers: what each level of memory carries, how many groups fit, how the last wave ends.

What the analytical model's resources do not tell by themselves. Logarithms of base 2; times in microseconds.
"""

from __future__ import annotations

import math

from model.analytic.gpu_latency import load_cycles
from model.analytic.gpu_memory import (
    caches_of,
    core_cache_bytes,
    crowding,
    gpu_traffic,
    idle_lanes,
    memory_times_us,
    streaming,
)
from model.analytic.occupancy import occupancy, registers_needed
from model.architectures import Architecture, architecture_of
from model.device import Device
from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.work_counts import WorkCounts

WARP, LANE_BYTES = 32, 4
LEAST_US = 2.0**-20

TIMES = ("near_us", "shared_us", "memory_us", "issue_us", "convert_us", "special_us", "constant_us")
PLACEMENT = (
    "occupancy", "resident_groups", "waves", "last_wave", "idle_lanes", "crowding", "streaming", "groups_per_core",
    "warps_per_group", "registers", "registers_over_most", "load_cycles",
)  # fmt: skip
REUSE = (
    "sectors_over_needed", "bank_conflicts", "group_bytes_in_cache", "launch_bytes_in_cache", "reuse_in_core",
    "reuse_in_chip", "late", "stored", "loads_per_operation", "fused", "imbalance", "divergence",
)  # fmt: skip
GPU_FACT_NAMES = (*TIMES, *PLACEMENT, *REUSE)


def gpu_facts(counts: WorkCounts, device: Device) -> tuple[float, ...]:
    """In the order of GPU_FACT_NAMES; finite. For GPUs: on a CPU they say nothing."""
    architecture, facts = architecture_of(device), counts.facts
    held = occupancy(counts, architecture)
    traffic = gpu_traffic(counts, device)
    near_us, shared_us, memory_us = memory_times_us(traffic, device)
    groups = max(1, counts.work_groups)
    waves = groups / (held.groups * device.core_count)
    requested = counts.global_load_bytes + counts.global_store_bytes
    group_bytes, launch_bytes = facts.line_bytes
    operations = max(1.0, sum(op.count for op in counts.ops))
    words = sum(a.count * _words(a.element_bytes) for a in counts.accesses if a.space is not AddressSpace.PRIVATE)
    found = {
        "near_us": near_us,
        "shared_us": shared_us,
        "memory_us": memory_us,
        **_issue_us(counts, device, architecture, words),
        "occupancy": held.share(architecture),
        "resident_groups": held.groups,
        "waves": waves,
        "last_wave": waves / math.ceil(waves),
        "idle_lanes": idle_lanes(counts, device),
        "crowding": crowding(counts, device, facts.busy_share),
        "streaming": streaming(counts, device),
        "groups_per_core": groups / device.core_count,
        "warps_per_group": held.warps_per_group,
        "registers": held.registers,
        "registers_over_most": registers_needed(counts, architecture) / architecture.max_registers_per_item,
        "load_cycles": load_cycles(traffic, architecture),
        "sectors_over_needed": facts.transaction_factor or 1.0,
        "bank_conflicts": facts.bank_conflict_degree or 1.0,
        "group_bytes_in_cache": group_bytes / core_cache_bytes(counts, device),
        "launch_bytes_in_cache": launch_bytes / max(1.0, caches_of(device).last_bytes),
        "reuse_in_core": requested / max(1.0, traffic.last_bytes),
        "reuse_in_chip": traffic.last_bytes / max(1.0, traffic.memory_bytes),
        "late": traffic.late_bytes / max(1.0, traffic.near_bytes),
        "stored": traffic.stored_share,
        "loads_per_operation": words / operations,
        "fused": facts.fused_integers / operations,
        "imbalance": facts.group_imbalance or 1.0,
        "divergence": 1.0 + facts.divergence,
    }
    return tuple(math.log2(min(max(found[name], LEAST_US), 1e30)) for name in GPU_FACT_NAMES)


def _issue_us(counts: WorkCounts, device: Device, architecture: Architecture, words: float) -> dict[str, float]:
    """Return what the units that execute instructions are busy at least, all cores together, idle lanes included."""
    idle = idle_lanes(counts, device)
    clock_ghz = device.clock_mhz / 1000
    lanes_gop_s = device.rates.fp32_gflop_s / 2
    ops = {kind: sum(op.count for op in counts.ops if op.kind is kind) for kind in OpKind}
    # NVIDIA's cores convert where they compute sines; AMD's lanes do it as they add.
    special_gop_s = device.core_count * architecture.special_lanes_per_core * clock_ghz
    convert_gop_s = lanes_gop_s if "AMD" in device.platform else special_gop_s
    costly = ops[OpKind.SPECIAL] + ops[OpKind.NATIVE] + ops[OpKind.DIVIDE] + ops[OpKind.SQRT]
    constant = sum(a.count for a in counts.accesses if a.space is AddressSpace.CONSTANT)
    return {
        "issue_us": 1e-3 * idle * (sum(ops.values()) - counts.facts.fused_integers + words) / lanes_gop_s,
        "convert_us": 1e-3 * idle * ops[OpKind.CONVERT] / convert_gop_s,
        "special_us": 1e-3 * idle * costly / special_gop_s,
        "constant_us": 1e-3 * constant / WARP / (device.core_count * clock_ghz),
    }


def _words(element_bytes: int) -> float:
    return max(1.0, element_bytes / LANE_BYTES)
