"""Performance laws: what a launch takes at least, resource by resource, under a device's sustained rates.

runtime = launch floor + groups and items x their overhead + slowest of compute and memory (partly overlapped)
+ latency that nothing hides. Sources: roofline after Williams et al., CACM 2009; waves and per-resource
efficiency after NeuSight, ASPLOS 2025, section 4. The learned efficiencies will come in as factors of at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.account import Bound, exposed_us
from model.bandwidth import bandwidth_gb_s, gather_gaccess_s, strided_gaccess_s
from model.costs import Costs, costs_of
from model.device import Device, DeviceType, Rates
from model.laws_cpu import cpu_times
from model.measured_rates import barrier_ns, images_us, local_atomics_us, local_time_us, measured_gop_s
from model.opencl.builtins import BUILTINS
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, OpCount, OpKind, Pattern, WorkCounts

# Compute and memory overlap in part: their times add under this norm (1 = not at all, infinity = fully).
OVERLAP_NORM = 3.0
CPU_OVERLAP_NORM = 2.0
CALIBRATED_GROUP = 256  # work-items a group in the probes of barriers
MIN_BARRIER_ITEMS = 32
# Real code reaches this part of what microbenchmarks sustain: the median over the kernels in tests/kernels. A
# learned efficiency per kernel and resource takes its place later.
TYPICAL_EFFICIENCY = 0.65
# Streams on GPUs come nearer to it: fitted on three GPUs, see tests/catalog/README.md.
GPU_MEMORY_EFFICIENCY = 0.95
CACHE_LINE_BYTES = 64
HALF_IN_SOFTWARE = 20  # integer operations to widen or narrow a half where the device cannot
CPU_LANES = 8  # 32-bit lanes of a 256-bit vector unit
_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds per resource, and the whole. `least_us` is the roofline: no efficiency can beat it.

    In the order of `resources`, `needed_us` is what each takes with the efficiency that is reckoned with, `exposed_us`
    what it adds to `total_us` (their sum): the rest of it is hidden behind others.
    """

    resources: tuple[tuple[str, Bound, float], ...]
    total_us: float
    least_us: float
    needed_us: tuple[float, ...] = ()
    exposed_us: tuple[float, ...] = ()


# What each resource says of a launch that it holds up.
_BOUNDS = {
    "floating point": Bound.COMPUTE,
    "integer": Bound.COMPUTE,
    "special functions": Bound.COMPUTE,
    "operations that wait for each other": Bound.LATENCY,
    "global memory": Bound.MEMORY,
    "local memory": Bound.MEMORY,
    "private memory": Bound.MEMORY,
    "images": Bound.MEMORY,
    "barriers": Bound.LATENCY,
    "atomics": Bound.LATENCY,
    "starting groups": Bound.LAUNCH,
    "launch floor": Bound.LAUNCH,
}

RESOURCES = tuple(_BOUNDS)  # in the order of `Times.resources`
_COMPUTE = ("floating point", "integer", "special functions", "operations that wait for each other")
_ON_CHIP = ("local memory", "private memory", "images")
_MEMORY = ("global memory", *_ON_CHIP)


def launch_times(work: WorkCounts, device: Device) -> Times:
    """The laws, resource by resource [us]."""
    rates = device.rates
    waves = _wave_penalty(work.work_groups, rates.groups_to_fill)
    costs = costs_of(rates) if device.type is DeviceType.CPU else None
    if costs is not None and work.breakdown is not None:
        return _cpu_launch_times(work, device, costs, waves)
    fp, integer, special = compute_times_us(work.ops, work.scalar_ops, work.scalar_accesses, device)
    waiting = waiting_time_us(work, device, fp + integer)
    memory = memory_time_us(work, rates, is_cpu=device.type is DeviceType.CPU)
    local = local_time_us(work.accesses, work.local_load_bytes + work.local_store_bytes, rates)
    private = (
        1e-3 * sum(a.bytes for a in work.accesses if a.space is AddressSpace.PRIVATE) / rates.private_bandwidth_gb_s
    )
    images = images_us(work.image_reads, work.image_writes, rates)
    barriers = _barriers_us(work, rates) if rates.barriers else 1e-3 * work.barriers * rates.barrier_ns
    atomics = atomic_time_us(work.accesses, rates)
    starts = 1e-3 * (work.work_groups * rates.group_overhead_ns + work.work_items * rates.item_overhead_ns)
    times = {
        "floating point": fp * waves,
        "integer": integer * waves,
        "special functions": special * waves,
        "operations that wait for each other": waiting * waves,
        "global memory": memory * waves,
        "local memory": local * waves,
        "private memory": private * waves,
        "images": images * waves,
        "barriers": barriers * waves,
        "atomics": atomics,
        "starting groups": starts,
        "launch floor": rates.launch_floor_us,
    }
    resources = tuple((name, _BOUNDS[name], time_us) for name, time_us in times.items())
    compute_us = (fp + integer + special + waiting) * waves / TYPICAL_EFFICIENCY
    if device.type is DeviceType.CPU:
        memory_us = (memory + local + private + images) * waves / TYPICAL_EFFICIENCY
        busy = starts + _together(compute_us, memory_us, OVERLAP_NORM)
    else:
        memory_us = (memory / GPU_MEMORY_EFFICIENCY + (local + private + images) / TYPICAL_EFFICIENCY) * waves
        # Groups start while others run.
        busy = _together(starts, _together(compute_us, memory_us, OVERLAP_NORM), OVERLAP_NORM)
    total = rates.launch_floor_us + busy + barriers * waves + atomics
    least_us = max(rates.launch_floor_us, _roofline_us(work, rates))
    memory_efficiency = TYPICAL_EFFICIENCY if device.type is DeviceType.CPU else GPU_MEMORY_EFFICIENCY
    efficiency = {**dict.fromkeys(_COMPUTE + _ON_CHIP, TYPICAL_EFFICIENCY), "global memory": memory_efficiency}
    needed = {name: time_us / efficiency.get(name, 1.0) for name, time_us in times.items()}
    if device.type is DeviceType.CPU:
        overlaps = _exposed(needed, [_COMPUTE, _MEMORY], OVERLAP_NORM)
    else:
        inner = _exposed(needed, [_COMPUTE, _MEMORY], OVERLAP_NORM)
        outer = exposed_us((starts, _together(compute_us, memory_us, OVERLAP_NORM)), OVERLAP_NORM)
        within = outer[1] / sum(inner.values()) if sum(inner.values()) > 0 else 0.0
        overlaps = {name: time_us * within for name, time_us in inner.items()} | {"starting groups": outer[0]}
    return Times(resources, total, least_us, tuple(needed.values()), tuple((needed | overlaps).values()))


def _exposed(needed: Mapping[str, float], groups: Sequence[Sequence[str]], norm: float) -> dict[str, float]:
    """What each resource adds to the time, where each group as a whole overlaps with the others."""
    sums = [sum(needed[name] for name in group) for group in groups]
    parts = exposed_us(sums, norm)
    return {
        name: needed[name] * part / whole if whole > 0 else 0.0
        for group, whole, part in zip(groups, sums, parts, strict=True)
        for name in group
    }


def _cpu_launch_times(work: WorkCounts, device: Device, costs: Costs, waves: float) -> Times:
    """A CPU's whole launch, where its runtime's costs were measured."""
    rates = device.rates
    own = cpu_times(work, device, costs)
    barriers = _barriers_us(work, rates)
    on_chip = [a for a in work.accesses if a.is_atomic and a.space is AddressSpace.LOCAL]
    atomics = atomic_time_us([a for a in work.accesses if a.space is not AddressSpace.LOCAL], rates)
    atomics += sum(1e-3 * a.count for a in on_chip) * (costs.local_atomic_ns or 1 / rates.contended_atomic_gop_s)
    # What a work-item costs beyond its own operations is within theirs: it is one round of a loop.
    starts = 1e-3 * work.work_groups * rates.group_overhead_ns
    times = {
        "floating point": own.floating_point * waves,
        "integer": own.integer * waves,
        "special functions": own.special * waves,
        "operations that wait for each other": own.waiting * waves,
        "global memory": (own.issue + own.far) * waves,
        "local memory": own.local * waves,
        "private memory": own.private * waves,
        "images": own.images * waves,
        "barriers": barriers * waves,
        "atomics": atomics,
        "starting groups": starts,
        "launch floor": rates.launch_floor_us,
    }
    busy = _together(own.near, own.far, CPU_OVERLAP_NORM)
    total = rates.launch_floor_us + starts + (busy + barriers) * waves + atomics
    resources = tuple((name, _BOUNDS[name], time_us) for name, time_us in times.items())
    near_us, far_us = exposed_us((own.near * waves, own.far * waves), CPU_OVERLAP_NORM)
    near = near_us / (own.near * waves) if own.near > 0 else 0.0
    overlaps = {name: times[name] * near for name in _COMPUTE + _ON_CHIP}
    overlaps["global memory"] = own.issue * waves * near + far_us
    least_us = max(rates.launch_floor_us, _roofline_us(work, rates))
    return Times(resources, total, least_us, tuple(times.values()), tuple((times | overlaps).values()))


def _barriers_us(work: WorkCounts, rates: Rates) -> float:
    """On a CPU a barrier ends one loop over the work-items of its group and begins another."""
    group_items = work.work_items / max(1, work.work_groups)
    each_ns = barrier_ns(group_items, rates, calibrated_group=CALIBRATED_GROUP, least=MIN_BARRIER_ITEMS)
    return 1e-3 * work.barriers * each_ns


def _together(a_us: float, b_us: float, norm: float) -> float:
    """Two times that overlap in part; however long, without overflow."""
    longer = max(a_us, b_us)
    if longer <= 0 or math.isinf(longer):
        return longer
    return longer * math.pow((a_us / longer) ** norm + (b_us / longer) ** norm, 1 / norm)


def _roofline_us(work: WorkCounts, rates: Rates) -> float:
    """No faster than all flops at the best rate, nor than moving each distinct byte once at the best bandwidth [us].

    Source: Williams et al., "Roofline", CACM 2009, with the rates that the device was seen to sustain.
    """
    vectors = (rate.gop_s for rate in rates.arithmetic if rate.operation == "multiply-add")
    best = max(rates.fp32_gflop_s, rates.fp64_gflop_s, rates.fp16_gflop_s, *vectors)
    bandwidth = max((max(p.read_gb_s, p.write_gb_s) for p in rates.bandwidth), default=math.inf)
    return max(1e-3 * work.flops / best, 1e-3 * work.global_footprint_bytes / bandwidth)


def _wave_penalty(groups: int, capacity: int) -> float:
    """How much longer `groups` take than if they filled the device evenly: the last wave may be nearly empty."""
    capacity = max(1, capacity)
    return math.ceil(groups / capacity) * capacity / max(1, groups)


# --- compute ---------------------------------------------------------------------------------------------

_SPECIAL = frozenset({OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE, OpKind.INT_DIVIDE})
_INTEGER = frozenset({OpKind.INTEGER, OpKind.INT_MUL, OpKind.BRANCH, OpKind.CONVERT})


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
        elif op.kind in _INTEGER:
            integer += time_us
        else:
            fp += time_us
    if is_cpu:
        integer += 1e-3 * scalar_accesses / scalar_issue_gop_s(rates)
    return fp, integer, special


def resource_of(kind: OpKind) -> str:
    """The resource that operations of this kind keep busy."""
    return "special functions" if kind in _SPECIAL else "integer" if kind in _INTEGER else "floating point"


def one_by_one(scalar_ops: Iterable[OpCount]) -> dict[tuple[OpKind, str], float]:
    """How many operations of each kind a CPU does not vectorise."""
    return {(op.kind, op.element): op.count for op in scalar_ops}


def operation_time_us(op: OpCount, slow: Mapping[tuple[OpKind, str], float], rates: Rates) -> float:
    """As `compute_times_us`, of one kind; `slow` are those that go one by one."""
    alone = min(op.count, slow.get((op.kind, op.element), 0.0))
    rate = _rate(op, rates)
    return 1e-3 * ((op.count - alone) / rate + (alone / min(rate, scalar_issue_gop_s(rates)) if alone else 0.0))


def waiting_time_us(work: WorkCounts, device: Device, busy_us: float) -> float:
    """How much longer than `busy_us` a CPU takes because operations wait for the ones before [us].

    `scalar_fp32_gflop_s` is the rate of one such chain of fma per work-item, on all compute units together.
    """
    if device.type is not DeviceType.CPU:
        return 0.0
    return max(0.0, 1e-3 * work.chain_ops / (device.rates.scalar_fp32_gflop_s / 2) - busy_us)


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


# --- memory ----------------------------------------------------------------------------------------------


def memory_time_us(work: WorkCounts, rates: Rates, *, is_cpu: bool) -> float:
    """Time of all global and constant accesses [us]: each by its pattern and its own footprint."""
    whole = work.global_footprint_bytes
    plain = (a for a in work.accesses if a.space in _GLOBAL and not a.is_atomic)
    return sum(access_time_us(a, rates, whole, is_cpu=is_cpu) for a in plain)


def access_time_us(access: AccessCount, rates: Rates, launch_footprint_bytes: float, *, is_cpu: bool) -> float:
    """Time of one access of the source [us].

    Each distinct byte comes once from the memory level that the whole launch fits in; the rest, from the level that
    the access's own footprint fits in. A CPU runs one work-item after the other: a loop that walks memory in steps
    of an element streams, however far apart neighbouring work-items are.
    """
    first = min(access.bytes, access.footprint_bytes)
    near = _rate_gb_s(access, access.footprint_bytes, rates)
    far = _rate_gb_s(access, max(access.footprint_bytes, launch_footprint_bytes), rates)
    again_us = 1e-3 * (access.bytes - first) / near
    streaming_us = 1e-3 * first / far + again_us
    if is_cpu and access.step_bytes is not None and 0 < abs(access.step_bytes) <= access.element_bytes:
        return streaming_us
    match access.pattern:
        case Pattern.UNIT:
            return streaming_us
        case Pattern.BROADCAST:
            # One load serves all lanes; where the next one falls is what costs.
            return streaming_us - again_us * 3 / 4
        case Pattern.GATHERED:
            return max(streaming_us, 1e-3 * access.count / gather_gaccess_s(access.footprint_bytes, rates))
        case Pattern.STRIDED:
            lines = min(access.stride_bytes, CACHE_LINE_BYTES) / max(1, access.element_bytes)
            if access.footprint_bytes < access.bytes:
                return streaming_us * min(lines, 4)
            stride = max(1, access.stride_bytes // 4)
            return max(streaming_us, 1e-3 * access.count / strided_gaccess_s(stride, rates))


def _rate_gb_s(access: AccessCount, footprint_bytes: float, rates: Rates) -> float:
    read, write = bandwidth_gb_s(footprint_bytes, rates)
    return write if access.is_store else read


def atomic_time_us(accesses: Sequence[AccessCount], rates: Rates) -> float:
    """Atomics on one address queue up; spread over many they run at the spread rate [us]."""
    on_chip = [a for a in accesses if a.is_atomic and a.space is AddressSpace.LOCAL]
    local_us = local_atomics_us(on_chip, rates)
    total = local_us or 0.0
    for access in accesses:
        if not access.is_atomic or (local_us is not None and access.space is AddressSpace.LOCAL):
            continue
        addresses = max(1.0, access.footprint_bytes / max(1, access.element_bytes))
        rate = min(rates.atomic_gop_s, rates.contended_atomic_gop_s * addresses)
        total += 1e-3 * access.count / rate
    return total
