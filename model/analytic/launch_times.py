"""Analytical times of a launch: what it takes at least, resource by resource, under a device's sustained rates.

runtime = launch floor + groups and items x their overhead + slowest of compute and memory (partly overlapped)
+ latency that nothing hides. Sources: roofline after Williams et al., CACM 2009; waves and per-resource
efficiency after NeuSight, ASPLOS 2025, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from model.account import BOUNDS, COMPUTE, MEMORY, ON_CHIP, Times, overlapped
from model.analytic.bandwidth import bandwidth_gb_s, gather_gaccess_s, strided_gaccess_s
from model.analytic.bounds import floor_us, printed_us
from model.analytic.cpu import cpu_times
from model.analytic.cpu_lanes import lanes_of
from model.analytic.gpu_latency import latency_us, load_cycles
from model.analytic.gpu_memory import (
    GPU_CACHE_EFFICIENCY,
    GPU_INTEGER_SHARE,
    GPU_MEMORY_EFFICIENCY,
    WARP,
    crowding,
    gpu_traffic,
    idle_lanes,
    line_time_us,
    local_memory_us,
    memory_times_us,
    streaming,
)
from model.analytic.gpu_private import private_memory_us
from model.analytic.operations import INTEGER_KINDS, compute_times_us, waiting_time_us
from model.architectures import architecture_of, vendor_of
from model.compiled_occupancy import OfflineFacts
from model.costs import Costs, costs_of
from model.device import Device, DeviceType, Rates
from model.measured_rates import barrier_ns, images_us, local_atomics_us, local_time_us
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, Pattern
from model.work.work_counts import WorkCounts

# Compute and memory overlap in part: their times add under this norm (1 = not at all, infinity = fully).
OVERLAP_NORM = 3.0
CPU_OVERLAP_NORM = 2.0
CALIBRATED_GROUP = 256  # work-items a group in the probes of barriers
MIN_BARRIER_ITEMS = 32
GPU_PIPE_EFFICIENCY = 0.65  # of a GPU's lanes and schedulers; chosen on the public rows
# Real code reaches this part of what microbenchmarks sustain: the median over the kernels in tests/kernels. A
# learned efficiency per kernel and resource takes its place later.
TYPICAL_EFFICIENCY = 0.65
CACHE_LINE_BYTES = 64
BOUNDS_OPS = 4  # integer operations of a work-item until it knows whether it is within bounds
_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})


def launch_times(work: WorkCounts, device: Device, code: OfflineFacts | None = None) -> Times:
    """Return the time of each resource [us].

    `code` is what a GPU's compiler made of the kernel, where that is known.
    """
    if device.type is not DeviceType.CPU:
        return _gpu_launch_times(work, device, code)
    rates = device.rates
    costs = costs_of(device)
    if costs is not None and work.breakdown is not None:
        return _cpu_launch_times(work, device, costs)
    waves = _wave_penalty(work.work_groups, rates.groups_to_fill)
    fp, integer, special = compute_times_us(work.ops, work.scalar_ops, work.scalar_accesses, device)
    waiting = waiting_time_us(work, device, fp + integer)
    memory = _memory_us(work, rates)
    local = local_time_us(work.accesses, work.local_load_bytes + work.local_store_bytes, rates)
    private = _private_us(work, rates)
    images = images_us(work.image_reads, work.image_writes, rates)
    barriers = _barriers_us(work, rates) if rates.barriers else 1e-3 * work.barriers * rates.barrier_ns
    atomics = atomic_time_us(work.accesses, rates)
    starts = 1e-3 * (work.work_groups * rates.group_overhead_ns + work.work_items * rates.item_overhead_ns)
    times = {
        "floating point": fp * waves,
        "integer": integer * waves,
        "special functions": special * waves + printed_us(work, device),
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
    groups = [{name: times[name] / TYPICAL_EFFICIENCY for name in group} for group in (COMPUTE, MEMORY)]
    return _times(times, groups, OVERLAP_NORM, work, device)


def _gpu_launch_times(work: WorkCounts, device: Device, code: OfflineFacts | None) -> Times:
    """Return a GPU's whole launch: its levels of memory, its lanes and what starts groups work at the same time."""
    rates, architecture = device.rates, architecture_of(device)
    idle, crowded = idle_lanes(work, device), crowding(work, device, work.facts.busy_share)
    parted = work.facts.warp_slowdown
    fp, integer, special = (
        each * idle * parted for each in compute_times_us(work.ops, work.scalar_ops, work.scalar_accesses, device)
    )
    fp, special = fp * crowded, special * crowded
    integer = max(0.0, integer - 1e-3 * idle * parted * work.facts.fused_integers / rates.int32_gop_s)
    integer *= GPU_INTEGER_SHARE * (crowded + _share_of_bounds(work) * (crowding(work, device) - crowded))
    traffic = gpu_traffic(work, device, code)
    near, last, far = memory_times_us(traffic, device)
    latency = latency_us(work, device, load_cycles(traffic, architecture, parted), code)
    near, last, far = near * crowded * parted, last * streaming(work, device), far * streaming(work, device)
    if rates.local_strided:
        local = local_time_us(work.accesses, work.local_load_bytes + work.local_store_bytes, rates) * crowded
    else:
        local = local_memory_us(work, device) * crowded * parted
    private, spilled_last, spilled_far = private_memory_us(work, device, code)
    private *= crowded
    images = crowded * images_us(work.image_reads, work.image_writes, rates)
    barriers = (_barriers_us(work, rates) if rates.barriers else 1e-3 * work.barriers * rates.barrier_ns) * crowding(
        work, device
    )
    atomics = atomic_time_us(work.accesses, rates)
    starts = 1e-3 * (work.work_groups * rates.group_overhead_ns + work.work_items * rates.item_overhead_ns)
    times = {
        "floating point": fp,
        "integer": integer,
        "special functions": special,
        "operations that wait for each other": latency,
        "global memory": _together(near, last, far),
        "local memory": local,
        "private memory": max(private, spilled_last, spilled_far),
        "images": images,
        "barriers": barriers,
        "atomics": atomics,
        "starting groups": starts,
        "launch floor": rates.launch_floor_us,
    }
    pipes = {name: times[name] / GPU_PIPE_EFFICIENCY for name in ("floating point", "integer", "special functions")}
    groups = [
        {name: each / GPU_PIPE_EFFICIENCY for name, each in issue_us(work, device, times).items()},
        *({name: each} for name, each in pipes.items()),
        {"global memory": far / GPU_MEMORY_EFFICIENCY, "private memory": spilled_far / GPU_MEMORY_EFFICIENCY},
        {"global memory": last / GPU_CACHE_EFFICIENCY, "private memory": spilled_last / GPU_CACHE_EFFICIENCY},
        {"global memory": near / GPU_CACHE_EFFICIENCY, "images": images / GPU_CACHE_EFFICIENCY},
        {"local memory": local / GPU_CACHE_EFFICIENCY, "private memory": private / GPU_CACHE_EFFICIENCY},
        {"operations that wait for each other": latency},
        {"starting groups": starts},  # they start while others run
    ]
    return _times(times, groups, OVERLAP_NORM, work, device)


def issue_us(work: WorkCounts, device: Device, times: Mapping[str, float]) -> dict[str, float]:
    """Return the time that instructions occupy the schedulers, by resource: each issues one warp a clock.

    What computes is counted from `times`, in which as many lanes work as the device has. AMD's schedulers start loads
    and stores beside other waves' arithmetic. Sources: NVIDIA, "Tuning Guides", multiprocessor level; AMD, "RDNA
    Performance Guide".
    """
    architecture, rates = architecture_of(device), device.rates
    slots_gop_s = device.core_count * architecture.schedulers_per_core * WARP * device.clock_mhz / 1000
    lanes = {
        "floating point": rates.fp32_gflop_s / 2, "integer": rates.int32_gop_s, "special functions": rates.native_gop_s,
    }  # fmt: skip
    is_amd = vendor_of(device) == "amd"
    found = {name: times[name] * (1.0 if is_amd else min(1.0, each / slots_gop_s)) for name, each in lanes.items()}
    if not is_amd:
        loaded = work.facts.loaded_shares
        warps = 1e-3 * idle_lanes(work, device) * work.facts.warp_slowdown / slots_gop_s
        for name, spaces in (("global memory", _GLOBAL), ("local memory", frozenset({AddressSpace.LOCAL}))):
            executed = (a.count * loaded.get(id(a), 1.0) for a in work.accesses if a.space in spaces)
            found[name] = warps * sum(executed)
    return found


def _share_of_bounds(work: WorkCounts) -> float:
    """Return the share of the integer operations by which all work-items find out whether they are within bounds."""
    integers = sum(op.count for op in work.ops if op.kind in INTEGER_KINDS)
    return min(1.0, BOUNDS_OPS * work.work_items / integers) if integers else 1.0


def _times(
    resources: Mapping[str, float],
    groups: Sequence[Mapping[str, float]],
    norm: float,
    work: WorkCounts,
    device: Device,
) -> Times:
    """Return the whole: `groups` of resources, with their times, overlap with each other; all others come on top."""
    overlapping = overlapped(groups, norm)
    needed = {name: overlapping.get(name, (time_us, time_us)) for name, time_us in resources.items()}
    return Times(
        tuple((name, BOUNDS[name], time_us) for name, time_us in resources.items()),
        sum(time_us for name, time_us in resources.items() if name not in overlapping)
        + _together(*(sum(group.values()) for group in groups), norm=norm),
        max(device.rates.launch_floor_us, _roofline_us(work, device.rates)),
        floor_us(work, device),
        tuple(needed_us for needed_us, _ in needed.values()),
        tuple(exposed_us for _, exposed_us in needed.values()),
    )


def _private_us(work: WorkCounts, rates: Rates) -> float:
    moved = sum(a.bytes for a in work.accesses if a.space is AddressSpace.PRIVATE)
    return 1e-3 * moved / rates.private_bandwidth_gb_s


def _cpu_launch_times(work: WorkCounts, device: Device, costs: Costs) -> Times:
    """Return a CPU's whole launch, where its runtime's costs were measured."""
    rates, lanes = device.rates, lanes_of(work, device)
    waves = _wave_penalty(lanes.groups, rates.groups_to_fill)
    own = cpu_times(work, lanes, device, costs)
    barriers = _barriers_us(work, rates)
    on_chip = [a for a in work.accesses if a.is_atomic and a.space is AddressSpace.LOCAL]
    atomics = atomic_time_us([a for a in work.accesses if a.space is not AddressSpace.LOCAL], rates)
    atomics += sum(1e-3 * a.count for a in on_chip) * (costs.local_atomic_ns or 1 / rates.contended_atomic_gop_s)
    # What a work-item costs beyond its own operations is within theirs: it is one round of a loop.
    starts = 1e-3 * lanes.groups * rates.group_overhead_ns
    times = {
        "floating point": own.floating_point * waves,
        "integer": own.integer * waves,
        "special functions": own.special * waves + printed_us(work, device),
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
    near = {name: times[name] for name in COMPUTE + ON_CHIP} | {"global memory": own.issue * waves}
    found = _times(times, [near, {"global memory": own.far * waves}], CPU_OVERLAP_NORM, work, device)
    return replace(found, floor_us=max(found.floor_us, own.serial))


def _barriers_us(work: WorkCounts, rates: Rates) -> float:
    """On a CPU a barrier ends one loop over the work-items of its group and begins another."""
    group_items = work.work_items / max(1, work.work_groups)
    each_ns = barrier_ns(group_items, rates, calibrated_group=CALIBRATED_GROUP, least=MIN_BARRIER_ITEMS)
    return 1e-3 * work.barriers * each_ns


def _together(*times_us: float, norm: float = OVERLAP_NORM) -> float:
    """Return the time of parts that overlap partly, however long they are, without overflow."""
    longest = max(times_us)
    if longest <= 0 or math.isinf(longest):
        return longest
    return longest * math.pow(sum((each / longest) ** norm for each in times_us), 1 / norm)


def _roofline_us(work: WorkCounts, rates: Rates) -> float:
    """No faster than all flops at the best rate, nor than moving each distinct byte once at the best bandwidth [us].

    Source: Williams et al., "Roofline", CACM 2009, with the rates that the device was seen to sustain.
    """
    vectors = (rate.gop_s for rate in rates.arithmetic if rate.operation == "multiply-add")
    best = max(rates.fp32_gflop_s, rates.fp64_gflop_s, rates.fp16_gflop_s, *vectors)
    bandwidth = max((max(p.read_gb_s, p.write_gb_s) for p in rates.bandwidth), default=math.inf)
    return max(1e-3 * work.flops / best, 1e-3 * work.global_footprint_bytes / bandwidth)


def _wave_penalty(groups: int, capacity: int) -> float:
    """Return how much longer `groups` take than if they filled the device evenly: the last wave may be nearly empty."""
    capacity = max(1, capacity)
    return math.ceil(groups / capacity) * capacity / max(1, groups)


def _memory_us(work: WorkCounts, rates: Rates) -> float:
    """Time of all global and constant accesses of a CPU [us]: each by its pattern and its own footprint."""
    whole = work.global_footprint_bytes
    plain = (a for a in work.accesses if a.space in _GLOBAL and not a.is_atomic)
    return sum(access_time_us(a, rates, whole, is_cpu=True) for a in plain)


def access_time_us(access: AccessCount, rates: Rates, launch_footprint_bytes: float, *, is_cpu: bool) -> float:
    """Time of one access of the source [us].

    Each distinct byte comes once from the memory level that the whole launch fits in; the rest, from the level that
    the access's own footprint fits in. A CPU runs one work-item after the other: a loop that walks memory in steps
    of an element streams, however far apart neighbouring work-items are.
    """
    if not is_cpu:
        return line_time_us(access, rates, launch_footprint_bytes)
    first = min(access.bytes, access.footprint_bytes)
    near = _rate_gb_s(access, access.footprint_bytes, rates)
    far = _rate_gb_s(access, max(access.footprint_bytes, launch_footprint_bytes), rates)
    again_us = 1e-3 * (access.bytes - first) / near
    streaming_us = 1e-3 * first / far + again_us
    if access.step_bytes is not None and 0 < abs(access.step_bytes) <= access.element_bytes:
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
