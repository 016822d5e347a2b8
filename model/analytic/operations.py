"""What operations take with every unit busy: floating point, integers, special functions, by a device's rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.device import Device, DeviceType, Rates
from model.measured_rates import measured_gop_s
from model.opencl.builtins import BUILTINS
from model.work.counts import OpCount, OpKind
from model.work.work_counts import WorkCounts

HALF_IN_SOFTWARE = 20  # integer operations to widen or narrow a half where the device cannot
CPU_LANES = 8  # 32-bit lanes of a 256-bit vector unit
# Of one work-item, where Intel's runtime makes instructions of them; PoCL makes none. Measured on an Intel Xeon
# (Sapphire Rapids), near what Fog's tables say of MFENCE.
FENCE_CLOCKS = {"mem_fence": 40, "atomic_work_item_fence": 40, "read_mem_fence": 20, "write_mem_fence": 8}
_SPECIAL = frozenset({OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE, OpKind.INT_DIVIDE})
INTEGER_KINDS = frozenset({OpKind.INTEGER, OpKind.INT_MUL, OpKind.BRANCH, OpKind.CONVERT})


def compute_times_us(
    ops: Iterable[OpCount], scalar_ops: Iterable[OpCount], scalar_accesses: float, device: Device
) -> tuple[float, float, float]:
    """Time of floating-point, integer and special operations [us] with every unit busy.

    On CPUs, operations that are not vectorised go one by one, as do their loads and stores.
    """
    rates = device.rates
    is_cpu = device.type is DeviceType.CPU
    slow = one_by_one(scalar_ops) if is_cpu else {}
    fp = integer = special = 0.0
    for op in ops:
        time_us = operation_time_us(op, slow, rates)
        if op.kind in _SPECIAL:
            special += time_us
        elif op.kind in INTEGER_KINDS:
            integer += time_us
        else:
            fp += time_us
    if is_cpu:
        integer += 1e-3 * scalar_accesses / scalar_issue_gop_s(rates)
    return fp, integer, special


def resource_of(kind: OpKind) -> str:
    """Return the resource that operations of this kind keep busy."""
    return "special functions" if kind in _SPECIAL else "integer" if kind in INTEGER_KINDS else "floating point"


def one_by_one(scalar_ops: Iterable[OpCount]) -> dict[tuple[OpKind, str], float]:
    """Return how many operations of each kind a CPU does not vectorise."""
    return {(op.kind, op.element): op.count for op in scalar_ops}


def operation_time_us(op: OpCount, slow: Mapping[tuple[OpKind, str], float], rates: Rates) -> float:
    """Return the time of operations of one kind [us]; `slow` are those that a CPU does not vectorise."""
    alone = min(op.count, slow.get((op.kind, op.element), 0.0))
    rate = _rate(op, rates)
    return 1e-3 * ((op.count - alone) / rate + (alone / min(rate, scalar_issue_gop_s(rates)) if alone else 0.0))


def waiting_time_us(work: WorkCounts, device: Device, busy_us: float) -> float:
    """Return how much longer than `busy_us` a CPU takes because operations wait for the ones before [us].

    `scalar_fp32_gflop_s` is the rate of one such chain of fma per work-item, on all compute units together.
    """
    if device.type is not DeviceType.CPU:
        return 0.0
    in_line_us = 1e-3 * work.chain_ops / (device.rates.scalar_fp32_gflop_s / 2)
    return max(0.0, in_line_us - busy_us) + fences_us(work, device)


def fences_us(work: WorkCounts, device: Device) -> float:
    """Return what memory fences take on a CPU, all compute units together [us]."""
    if not device.is_intels_cpu:
        return 0.0
    return 1e-3 * clock_ns(device) * sum(op.count * FENCE_CLOCKS.get(op.function, 0) for op in work.ops)


def clock_ns(device: Device) -> float:
    """Return one cycle of a CPU, divided over the compute units [ns]."""
    return 1e3 / (device.clock_mhz or 2500) / max(1, device.compute_units)


def _rate(op: OpCount, rates: Rates) -> float:
    """Operations a second in 1e9. An fma counts one operation here and two flops in the rate."""
    measured = measured_gop_s(op, rates)
    if measured is not None:
        return measured
    match op.kind:
        case OpKind.DIVIDE | OpKind.SQRT:
            return _by_width(rates.divide_gop_s, op, rates)
        case OpKind.SPECIAL:
            builtin = BUILTINS.get(op.function)  # pow is worth several of what was measured
            return _by_width(rates.special_gop_s, op, rates) / (builtin.price if builtin is not None else 1.0)
        case OpKind.NATIVE:
            return rates.native_gop_s
        case OpKind.INT_DIVIDE:
            return rates.int_divide_gop_s / (2 if op.element == "i64" else 1)
        case OpKind.CONVERT if op.element == "f16" and not rates.fp16_gflop_s:
            return rates.int32_gop_s / HALF_IN_SOFTWARE
        case OpKind.INTEGER | OpKind.INT_MUL | OpKind.BRANCH | OpKind.CONVERT:
            return rates.int32_gop_s / (2 if op.element in ("i64", "f64") else 1)
    flops = {"f64": rates.fp64_gflop_s, "f16": rates.fp16_gflop_s}.get(op.element, 0.0) or rates.fp32_gflop_s
    return flops / 2


def _by_width(rate: float, op: OpCount, rates: Rates) -> float:
    if op.element == "f64" and rates.fp64_gflop_s:
        return rate * min(1.0, rates.fp64_gflop_s / rates.fp32_gflop_s)
    return rate


def scalar_issue_gop_s(rates: Rates) -> float:
    """Instructions a second [1e9] where nothing is vectorised: the vector rate over the lanes of 32 bits."""
    return rates.int32_gop_s / CPU_LANES
