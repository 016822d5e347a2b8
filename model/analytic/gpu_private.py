"""What a GPU's private memory costs: arrays that registers cannot hold, and values that a compiler spilled.

Each work-item's bytes lie beside those of its neighbours, so a warp moves whole lines. They pass the core's cache, and
those of all resident work-items together decide how far beyond it they go. Source: NVIDIA, "CUDA C++ Programming
Guide", local memory: it is cached in L1 and L2 and laid out so that consecutive words belong to consecutive threads.
"""

from __future__ import annotations

from model.analytic.gpu_memory import caches_of, missed
from model.analytic.occupancy import arrays_in_registers, occupancy
from model.architectures import architecture_of
from model.compiled_occupancy import OfflineFacts
from model.device import Device
from model.opencl.types import AddressSpace
from model.work.work_counts import WorkCounts

PASSES = 2.0  # a spilled value is stored once and loaded once, at least


def private_memory_us(work: WorkCounts, device: Device, code: OfflineFacts | None = None) -> tuple[float, float, float]:
    """Private memory with all cores busy [us]: in the cores, and what spills add to the last cache's time and memory's.

    Spills are known of compiled code alone.
    """
    in_registers = arrays_in_registers(work, architecture_of(device), code)
    own = (a for a in work.accesses if a.space is AddressSpace.PRIVATE and a.buffer not in in_registers)
    arrays_us = 1e-3 * sum(a.bytes for a in own) / device.rates.private_bandwidth_gb_s
    near, last, far = spills_us(work, device, code) if code is not None else (0.0, 0.0, 0.0)
    return arrays_us + near, last, far


def spilled_bytes(work: WorkCounts, code: OfflineFacts) -> float:
    """Return what the launch stores and loads of spilled values if each work-item passes once through its code."""
    return PASSES * code.spill_bytes * work.work_items * work.facts.busy_share


def spills_us(work: WorkCounts, device: Device, code: OfflineFacts) -> tuple[float, float, float]:
    """Return each level's time [us] for the spilled values that pass it: the cores' caches, the last cache, memory."""
    moved = spilled_bytes(work, code)
    architecture, caches = architecture_of(device), caches_of(device)
    held = min(occupancy(work, architecture, code).groups, max(1.0, work.work_groups / device.core_count))
    in_a_core = code.spill_bytes * held * work.work_items / max(1, work.work_groups)
    beyond_core = moved * missed(in_a_core, architecture.l1_bytes)
    beyond_chip = beyond_core * missed(in_a_core * device.core_count, caches.last_bytes)
    return (
        1e-3 * moved / device.rates.local_bandwidth_gb_s,
        1e-3 * beyond_core / caches.last_gb_s,
        1e-3 * beyond_chip / caches.read_gb_s,
    )
