"""A device in numbers, in groups that belong together: what it is, computes, moves, starts, and leaves unvectorised.

Mostly ratios, which carry from one device to another, beside a few sizes. Logarithms of base 2; NaN where a profile
does not say.
"""

from __future__ import annotations

import math
from functools import lru_cache

from model.analytic.bandwidth import bandwidth_gb_s, gather_gaccess_s, strided_gaccess_s
from model.device import Device, DeviceType, Rates

_KIB, _MIB = 1 << 10, 1 << 20
_FOOTPRINTS = {"16k": 16 * _KIB, "256k": 256 * _KIB, "2m": 2 * _MIB, "16m": 16 * _MIB, "128m": 128 * _MIB}
_STRIDES = (1, 2, 8, 32)
_FMA_CYCLES, _USUAL_CLOCK_MHZ = 4, 3500
_RATIOS = (
    "fp64_gflop_s", "fp16_gflop_s", "int32_gop_s", "scalar_fp32_gflop_s", "divide_gop_s", "special_gop_s",
    "native_gop_s", "int_divide_gop_s",
)  # fmt: skip
_ON_CHIP = (
    "local_bandwidth_gb_s", "private_bandwidth_gb_s", "atomic_gop_s", "contended_atomic_gop_s", "image_read_gop_s",
)  # fmt: skip
_COSTS = (
    "scalar.fp", "counted.fp", "reduced.fp", "data.fp", "branch.fp", "barrier.fp", "kept.fp", "unrolled.fp",
    "called.fp", "vector.unit", "vector.offset", "vector.strided", "vector.gathered", "vector.divide", "vector.int",
    "vector.int_divide", "call.exp", "call.sin", "call.pow", "call.log", "call.sqrt", "call.fmin", "call.native_exp",
    "width.16", "long.mul",
)  # fmt: skip
GROUPS: dict[str, tuple[str, ...]] = {
    "shape": (
        "is_gpu", "is_pocl", "is_intels", "is_amd", "compute_units", "groups_to_fill", "max_work_group_size",
        "preferred_multiple", "local_mem_bytes", "cache_bytes", "calibrated",
    ),
    "compute": ("fp32_per_unit", "chain_per_unit", *_RATIOS),
    "memory": (
        "bytes_per_flop", "bandwidth",
        *(f"read.{name}" for name in _FOOTPRINTS), *(f"write.{name}" for name in _FOOTPRINTS),
        *(f"gather.{name}" for name in _FOOTPRINTS), *(f"stride.{stride}" for stride in _STRIDES),
    ),
    "on_chip": (*_ON_CHIP, "barrier_ns"),
    "launch": ("launch_floor_us", "group_overhead_ns", "item_overhead_ns"),
    "vectors": _COSTS,
}  # fmt: skip
DEVICE_FACT_NAMES = tuple(f"{group}.{name}" for group, names in GROUPS.items() for name in names)


@lru_cache(maxsize=256)
def device_facts(device: Device) -> tuple[float, ...]:
    """In the order of DEVICE_FACT_NAMES."""
    rates = device.rates
    units = max(1, device.compute_units)
    flops = max(rates.fp32_gflop_s, 1e-3)
    far_gb_s = bandwidth_gb_s(_FOOTPRINTS["128m"], rates)[0]
    platform = device.platform.lower()
    found = {
        "is_pocl": float(device.is_pocl),
        "is_intels": float("intel" in platform),
        "is_gpu": float(device.type is DeviceType.GPU),
        "is_amd": float(device.type is DeviceType.CPU and "amd" in device.name.lower()),
        "compute_units": _log(units),
        "groups_to_fill": _log(rates.groups_to_fill),
        "max_work_group_size": _log(device.max_work_group_size),
        "preferred_multiple": _log(device.preferred_multiple),
        "local_mem_bytes": _log(device.local_mem_bytes),
        "cache_bytes": _log(device.cache_bytes),
        "calibrated": float(device.calibrated),
        "fp32_per_unit": _log(flops / units),
        "chain_per_unit": _log(1 / _fma_latency_ns(device)),
        **{name: _log(getattr(rates, name) / flops) for name in (*_RATIOS, *_ON_CHIP)},
        "bytes_per_flop": _log(far_gb_s / flops),
        "bandwidth": _log(far_gb_s),
        "barrier_ns": _log(rates.barrier_ns * flops),
        "launch_floor_us": _log(rates.launch_floor_us),
        "group_overhead_ns": _log(rates.group_overhead_ns * flops),
        "item_overhead_ns": _log(rates.item_overhead_ns * flops),
        **_memory(rates, far_gb_s),
        **_costs(rates),
    }
    return tuple(found[name] for names in GROUPS.values() for name in names)


def _fma_latency_ns(device: Device) -> float:
    """Return the latency as calibrated; without calibration, what most processors take at the driver's clock."""
    clock_mhz = device.clock_mhz or _USUAL_CLOCK_MHZ
    return device.rates.fma_latency_ns or 1e3 * _FMA_CYCLES / clock_mhz


def _memory(rates: Rates, far_gb_s: float) -> dict[str, float]:
    """Return caches relative to memory, and accesses that do not stream relative to those that do."""
    found = {}
    for name, footprint in _FOOTPRINTS.items():
        read, write = bandwidth_gb_s(footprint, rates)
        found[f"read.{name}"], found[f"write.{name}"] = _log(read / far_gb_s), _log(write / far_gb_s)
        found[f"gather.{name}"] = _log(4 * gather_gaccess_s(footprint, rates) / far_gb_s)
    for stride in _STRIDES:
        found[f"stride.{stride}"] = _log(4 * strided_gaccess_s(stride, rates) / far_gb_s)
    return found


def _costs(rates: Rates) -> dict[str, float]:
    """Against an operation in straight-line vector code."""
    ns = {cost.name: cost.ns for cost in rates.costs}
    vector = ns.get("vector.fp", 0.0)
    return {name: _log(ns[name] / vector) if vector and name in ns else math.nan for name in _COSTS}


def _log(value: float) -> float:
    return math.log2(value) if 0 < value < math.inf else math.nan
