"""What a calibration measured alone, for the analytical model of devices whose lanes are work-items (GPUs).

Each function answers with the general rate where nothing more exact was measured, as in profiles from datasheets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from model.analytic.bandwidth import read_between
from model.costs import alike
from model.device import Rates
from model.opencl.builtins import BUILTINS
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, OpCount, OpKind

BANKS = 32  # of 4 bytes
_OWN_COSTS = {(OpKind.DIVIDE, "f64"): "call64.divide", (OpKind.INT_DIVIDE, "i64"): "long.divide"}


def measured_gop_s(op: OpCount, rates: Rates) -> float | None:
    """Operations of this kind, type and function a second [1e9]; None where they were not measured by themselves."""
    if op.function:
        return _function_gop_s(op, rates)
    own = _OWN_COSTS.get((op.kind, op.element))
    if own is not None and own in _costs(rates):
        return 1 / _costs(rates)[own]
    match op.kind:
        case OpKind.INT_MUL:
            return (rates.int64_mul_gop_s if op.element == "i64" else rates.int32_mul_gop_s) or None
        case OpKind.INTEGER if op.element == "i64":
            return rates.int64_gop_s or None
    return None


def _function_gop_s(op: OpCount, rates: Rates) -> float | None:
    """Return the rate of a function; a call counts as several operations of which each takes its part."""
    prefix = "call64" if op.element == "f64" else "call"
    each_ns = _costs(rates).get(f"{prefix}.{alike(op.function)}")
    if each_ns is None:
        return None
    builtin = BUILTINS.get(op.function)
    return max(1, sum(count for _, count in builtin.costs) if builtin is not None else 1) / each_ns


def barrier_ns(group_items: float, rates: Rates, *, calibrated_group: int, least: int) -> float:
    """Return one barrier of one group of that size."""
    if rates.barriers:
        return read_between([(p.group_items, p.barrier_ns) for p in rates.barriers], group_items)
    return rates.barrier_ns * max(least, group_items) / calibrated_group


def local_time_us(accesses: Iterable[AccessCount], requested_bytes: float, rates: Rates) -> float:
    """Local memory, each access as slow as the banks make its stride."""
    turned = sum(
        access.bytes * (_turns(access, rates) - 1)
        for access in accesses
        if access.space is AddressSpace.LOCAL and not access.is_atomic
    )
    return 1e-3 * (requested_bytes + turned) / rates.local_bandwidth_gb_s


def _turns(access: AccessCount, rates: Rates) -> float:
    """Return how much longer than without conflicts: lanes meet in banks as often as stride and banks share factors."""
    if not rates.local_strided or access.stride_bytes % 4:
        return 1.0
    seen = {point.stride_elements: point.local_gb_s for point in rates.local_strided}
    shared = math.gcd(access.stride_bytes // 4, BANKS)
    # A vector is as many neighbouring words: they are no conflict.
    words = max(1, access.element_bytes // 4)
    return max(1.0, seen.get(1, 1.0) / seen[shared] / words) if shared in seen and access.stride_bytes else 1.0


def local_atomics_us(accesses: Iterable[AccessCount], rates: Rates) -> float | None:
    """Atomics on local memory; None where they were not measured. One address queues up, many go side by side."""
    if not rates.local_atomic_gop_s or not rates.contended_local_atomic_gop_s:
        return None
    total = 0.0
    for access in accesses:
        addresses = max(1.0, access.footprint_bytes / max(1, access.element_bytes))  # of one group
        rate = min(rates.local_atomic_gop_s, rates.contended_local_atomic_gop_s * addresses)
        total += 1e-3 * access.count / rate
    return total


def images_us(reads: float, writes: float, rates: Rates) -> float:
    """Return the time of reads of unknown filtering and of writes [us]."""
    if not rates.image_read_gop_s:
        return 0.0
    written = next((rate.gtexel_s for rate in rates.images if rate.access == "write"), rates.image_read_gop_s)
    return 1e-3 * (reads / rates.image_read_gop_s + writes / written)


@lru_cache(maxsize=64)
def _costs(rates: Rates) -> dict[str, float]:
    return {cost.name: max(cost.ns, 1e-6) for cost in rates.costs}
