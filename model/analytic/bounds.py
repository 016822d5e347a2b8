"""Bounds of every prediction: none is faster than the peaks of its device allow.

`floor_us` says what a launch takes at least on a device; no quantile of a prediction lies below it. A bound is
optimistic: it takes everything to overlap, and each resource for as good as datasheets or measurements know it at its
best. Where a calibration measured what is sustained, a peak lies above that by a margin. Source: Williams et al.,
"Roofline", CACM 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from model.analytic.bandwidth import bandwidth_gb_s
from model.analytic.gpu_memory import caches_of, rewritten_bytes, streamed
from model.device import Device, DeviceType, Rates
from model.opencl.builtins import PRINTF
from model.opencl.types import AddressSpace
from model.work.counts import OpKind, Pattern
from model.work.features.shared_operations import saved_operations
from model.work.work_counts import WorkCounts

# What was sustained over the peak that it comes from: of GPUs, see model/device_rates.py; CPUs' clocks and neighbours
# change from one minute to the next.
GPU_SUSTAINED, CPU_SUSTAINED = 0.85, 0.6
AS_MEMORY = 1.25  # times the bandwidth of memory: what is no faster comes from there
FUSED_INTEGERS = 4  # operations of the source that one instruction can do: three-input adds, any logic of three bits
KEPT_LOADS = 4  # loads of local memory for each that compilers leave: what a work-item reads twice stays in registers
WARP_ATOMICS = 32  # lanes that hardware adds up before memory sees them
ATOMICS_AT_ONCE = 8  # words of a sector that are updated together
# A call, in the median of the dataset's training rows. PoCL's run side by side, Intel's runtime makes one at a time.
PRINTF_NS, INTELS_PRINTF_NS = 250, 2000
PRINTF_SPREAD = 5  # the usual call over one that prints little
_SPECIAL = frozenset({OpKind.SPECIAL, OpKind.NATIVE})
_INTEGER = frozenset({OpKind.INTEGER, OpKind.INT_MUL})
_TYPES = ("f64", "f16")


def floor_us(work: WorkCounts, device: Device) -> float:
    """Return what the launch takes at least on the device [us]."""
    peaks = peaks_of(device)
    rates = device.rates
    bounds = [rates.launch_floor_us, 1e-3 * work.global_footprint_bytes / peaks.cache_gb_s]
    footprint_bytes = work.global_footprint_bytes
    if device.type is DeviceType.CPU and rates.bandwidth:
        bounds.append(1e-3 * CPU_SUSTAINED * footprint_bytes / max(bandwidth_gb_s(footprint_bytes, rates)))
    passed = footprint_bytes + min(footprint_bytes, rewritten_bytes(work))
    beyond = passed * streamed(footprint_bytes, peaks.cache_bytes)
    bounds.append(1e-3 * beyond / peaks.memory_gb_s)
    saved = saved_operations(work, device) if device.type is DeviceType.CPU else ()
    for element, gflop_s in peaks.gflop_s:
        flops = sum(op.flops for op in work.ops if _type(op.element) == element)
        flops = max(0.0, flops - sum(op.flops for op in saved if _type(op.element) == element))
        bounds.append(1e-3 * flops / gflop_s if gflop_s else 0.0)
    if device.type is DeviceType.CPU:
        bounds.append(printed_us(work, device) / PRINTF_SPREAD)
    else:
        bounds += _lanes_us(work, rates)
    return max(bound for bound in bounds if math.isfinite(bound))


def printed_us(work: WorkCounts, device: Device) -> float:
    """Return what the calls of `printf` take on a CPU [us]."""
    calls = sum(op.count for op in work.ops if op.function == PRINTF)
    return 1e-3 * calls * (INTELS_PRINTF_NS if device.is_intels_cpu else PRINTF_NS / max(1, device.compute_units))


@dataclass(frozen=True, slots=True)
class Peaks:
    """The best that a device can do. g = 1e9."""

    memory_gb_s: float
    cache_gb_s: float  # of the nearest cache, all compute units together
    cache_bytes: float  # beyond that, bytes come from memory
    gflop_s: tuple[tuple[str, float], ...]  # by element type; "" stands for all others


@lru_cache(maxsize=256)
def peaks_of(device: Device) -> Peaks:
    rates = device.rates
    is_cpu = device.type is DeviceType.CPU
    share = CPU_SUSTAINED if is_cpu else GPU_SUSTAINED
    points = rates.bandwidth
    far_gb_s = max(points[-1].read_gb_s, points[-1].write_gb_s, points[-1].copy_gb_s) if points else math.inf
    near_gb_s = max((max(p.read_gb_s, p.write_gb_s, p.copy_gb_s) for p in points), default=math.inf)
    memory_gb_s = max(far_gb_s, rates.peak_bandwidth_gb_s) if rates.peak_bandwidth_gb_s else far_gb_s / share
    # What a type is computed in is the compiler's choice: single precision may run in vectors of halves never, but
    # whatever was measured in any width counts.
    seen = {
        element: max(
            (r.gop_s for r in rates.arithmetic if r.operation == "multiply-add" and r.type.startswith(name)),
            default=0.0,
        )
        for element, name in (("", "float"), ("f64", "double"), ("f16", "half"))
    }
    spare = share if device.calibrated else 1.0
    gflop_s = {
        "": max(rates.fp32_gflop_s, seen[""]),
        "f64": max(rates.fp64_gflop_s, seen["f64"]),
        "f16": max(rates.fp16_gflop_s, seen["f16"], rates.fp32_gflop_s),
    }
    return Peaks(
        memory_gb_s,
        max(near_gb_s / share, memory_gb_s),
        _kept_bytes(device),
        tuple((element, rate / spare) for element, rate in gflop_s.items()),
    )


def _kept_bytes(device: Device) -> float:
    """Return how much the caches may keep from one launch to the next.

    Where memory was measured at several footprints, that is the first at which it was no faster than at the last: what
    drivers say is the size of one cache among several.
    """
    points, caches = device.rates.bandwidth, caches_of(device)
    kept = max(caches.last_bytes, caches.far_bytes)
    if device.type is not DeviceType.CPU or not points:
        return kept
    return max(kept, next(p.footprint_bytes for p in points if p.read_gb_s <= AS_MEMORY * points[-1].read_gb_s))


def _type(element: str) -> str:
    return element if element in _TYPES else ""


def _lanes_us(work: WorkCounts, rates: Rates) -> list[float]:
    """Return what a GPU's other units take at least. On CPUs compilers turn these into other instructions."""
    special = sum(op.count for op in work.ops if op.kind in _SPECIAL)
    integer = sum(op.count for op in work.ops if op.kind in _INTEGER)
    apart = sum(
        a.bytes / WARP_ATOMICS if a.pattern is Pattern.BROADCAST else a.bytes
        for a in work.accesses
        if a.space is AddressSpace.LOCAL and not a.is_atomic
    )
    found = [
        special / max(rates.native_gop_s, rates.special_gop_s),
        integer / (rates.int32_gop_s * FUSED_INTEGERS),
        apart / (rates.local_bandwidth_gb_s * KEPT_LOADS),
    ]
    for access in work.accesses:
        if access.is_atomic and access.space is not AddressSpace.LOCAL:
            addresses = max(1.0, access.footprint_bytes / max(1, access.element_bytes))
            rate = min(rates.atomic_gop_s * ATOMICS_AT_ONCE, rates.contended_atomic_gop_s * WARP_ATOMICS * addresses)
            found.append(access.count / rate)
    return [1e-3 * each for each in found]
