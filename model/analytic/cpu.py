"""Time of a launch on a calibrated CPU: what is vectorised, and what comes from beyond the nearest cache.

In each surrounding of the code (`Context`) operations and accesses take what they were measured to take there; a
chain of operations that wait for each other takes longer where it is longer. Bytes that are not in the nearest cache
come on top, in part at the same time. Sources: per-surrounding rates as in Stevens & Kloeckner (arXiv 1904.09538);
cache levels after the execution-cache-memory model, Hager et al., 2012.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.analytic.bandwidth import bandwidth_gb_s, chase_gaccess_s, gather_gaccess_s
from model.analytic.bounds import CPU_SUSTAINED
from model.analytic.cpu_lanes import Lanes, lanes_of
from model.analytic.operations import clock_ns, fences_us
from model.costs import Costs
from model.device import Device, Rates
from model.opencl.builtins import BUILTINS, FENCES
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, OpKind, Pattern
from model.work.features.access_facts import GLOBAL_SPACES
from model.work.features.shared_operations import Executed, executed
from model.work.features.vectorization_contexts import VECTOR_LANES, Context, ContextCount
from model.work.work_counts import WorkCounts

_SPECIAL = frozenset({OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE, OpKind.INT_DIVIDE})
_INTEGER = frozenset({OpKind.INTEGER, OpKind.INT_MUL, OpKind.BRANCH, OpKind.CONVERT})
# Operations that a core has under way and that wait for each other: work-items shorter than that overlap.
IN_FLIGHT = 64
ALL_SCALAR = 0.9
MISPREDICTED_CLOCKS = 17  # Fog, "The microarchitecture of Intel, AMD and VIA CPUs": 15 to 20
LINE_BYTES, PAGE_BYTES = 64, 4096
# The next three are the best for rows of the dataset's training split, on machines whose clock is known.
NEAR_LOAD_CLOCKS, WAITING_OP_CLOCKS = 3, 0.5  # nominal: processors run faster than that, and some operations fuse
REORDER_WINDOW = 256  # instructions under way: the loads of work-items that are shorter than that overlap
LOADS_IN_FLIGHT = 5.5  # measured on an AMD EPYC (Zen 4): 4 at 4 MiB, 5.5 at 32 MiB
# Farther apart than prefetchers follow, and more than the nearest cache keeps: the best for the same rows.
COLUMN_STEP_BYTES, COLUMN_STEPS = 1024, 64
APART_BYTES = 64 * 1024  # lines of a column that are farther apart share no fewer sets of a cache
TOUCHED_ONCE = 2.0  # at most so many accesses for each element: no line is read again later
NARROW_ROW_BYTES = 256  # of a group: longer ones are streams
SMALL_BYTES = 256 * 1024  # of a whole launch: below, nothing comes from far


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Microseconds on all compute units together.

    `far` is what bytes from beyond the nearest cache add. `serial` is the least that loads take of which each tells
    where the next one goes: no processor is faster, whatever else a work-item does.
    """

    floating_point: float
    integer: float
    special: float
    waiting: float
    issue: float  # loads and stores of global memory, as instructions
    local: float
    private: float
    images: float
    far: float
    serial: float = 0.0

    @property
    def near(self) -> float:
        """Everything but `far`."""
        compute = self.floating_point + self.integer + self.special + self.waiting
        return compute + self.issue + self.local + self.private + self.images


def cpu_times(work: WorkCounts, lanes: Lanes, device: Device, costs: Costs) -> CpuTimes:
    """Return the busy time of a launch, part by part [us]; `lanes` as the device's runtime runs it."""
    rates = device.rates
    surprise_ns = MISPREDICTED_CLOCKS * clock_ns(device)
    waiting = fences_us(work, device)
    fp = integer = special = issue = local = private = images = serial = 0.0
    parts = [(part, executed(part, work.local_size, device)) for part in lanes.contexts]
    shares = _scalar_shares(parts, work, lanes, costs)
    for part, ops in parts:
        share = shares.get(part.context, 0.0)
        own = {"fp": 0.0, "integer": 0.0, "special": 0.0, "issue": 0.0, "local": 0.0, "private": 0.0}
        off = costs.run_masked_off(part)
        for op in (*ops.all, *off.ops):
            if op.function in FENCES:
                continue
            kind = "special" if op.kind in _SPECIAL or op.function else "integer" if op.kind in _INTEGER else "fp"
            own[kind] += 1e-3 * costs.op_ns(op, part.context, share)
        for placed in (*part.accesses, *off.accesses):
            access, image = placed.access, placed.image
            if image:
                images += 1e-3 * access.count * costs.image_ns(image)
            if image or access.is_atomic:
                continue
            where = {AddressSpace.LOCAL: "local", AddressSpace.PRIVATE: "private"}.get(access.space, "issue")
            own[where] += 1e-3 * costs.access_ns(placed, part.context, share)
            if placed.is_call:
                own[where] += 1e-3 * access.count * costs.bare_call_ns
        if part.lane_wait > 1:
            wait = math.pow(part.lane_wait, 1 - share)
            own = {name: time_us * wait for name, time_us in own.items()}
        waiting += 1e-3 * share * part.surprises * surprise_ns
        instructions = sum(op.count for op in ops.all) + sum(placed.access.count for placed in part.accesses)
        side_by_side = max(1.0, IN_FLIGHT * work.work_items / max(1.0, instructions))
        in_line = 1e-3 * part.chain_ops * costs.chain_ns(part.context, share) / side_by_side
        overlapping = max(1.0, REORDER_WINDOW * work.work_items / max(1.0, instructions))
        loads_us = sum(dependent_loads_us(placed.access, device) for placed in part.accesses) / overlapping
        if share >= ALL_SCALAR and chase_gaccess_s(0, rates):  # side by side in a vector, chains overlap
            serial += CPU_SUSTAINED * loads_us
        in_line = max(in_line, loads_us)
        waiting += max(0.0, in_line - sum(own.values()))
        fp, integer, special = fp + own["fp"], integer + own["integer"], special + own["special"]
        issue, local, private = issue + own["issue"], local + own["local"], private + own["private"]
    if shares and min(shares.values()) >= ALL_SCALAR:  # what the others have to do hides it
        integer += 1e-3 * work.work_items * (1 - work.facts.busy_share) * rates.item_overhead_ns
    far = _far_us(work, lanes, rates, costs, shares)
    return CpuTimes(fp, integer, special, waiting, issue, local, private, images, far, serial)


def _scalar_shares(
    parts: Sequence[tuple[ContextCount, Executed]], work: WorkCounts, lanes: Lanes, costs: Costs
) -> dict[Context, float]:
    """Return how far work-items go one by one in each surrounding: 0 side by side in vectors, 1 alone."""
    has_calls = any(_is_called(part, ops) for part, ops in parts)
    shares = {
        part.context: costs.scalar_share(part.context, lanes.width, has_calls=has_calls)
        for part, _ in parts
        if part.ops
    }
    if not work.barriers and max(shares.values(), default=0.0) >= ALL_SCALAR:
        # A runtime that leaves a loop or a branch to lone work-items does so with all the code around it.
        return dict.fromkeys(shares, 1.0)
    return shares


def _is_called(part: ContextCount, ops: Executed) -> bool:
    """Return whether work-items call a function that some runtimes do not inline, and so do not vectorise around.

    Reading and writing images is calling functions, and so are `vload` and `vstore`.
    """
    return any(op.function in BUILTINS and op.function not in FENCES for op in ops.each) or any(
        placed.image or placed.is_call for placed in part.accesses
    )


def dependent_loads_us(access: AccessCount, device: Device) -> float:
    """Return what the loads take that wait for each other, on all compute units together [us]."""
    if not access.waiting:
        return 0.0
    sets = access.working_sets or ((1.0, access.footprint_bytes),)
    load_ns = sum(share * dependent_load_ns(held, device) for share, held in sets)
    return 1e-3 * access.waiting * (load_ns + access.waiting_ops * WAITING_OP_CLOCKS * clock_ns(device))


def dependent_load_ns(footprint_bytes: float, device: Device) -> float:
    """Return the time of a load whose place the load before tells, divided over the compute units [ns].

    Where a device's calibration has none, a load in the nearest cache takes `NEAR_LOAD_CLOCKS`, and `LOADS_IN_FLIGHT`
    gathers share what comes from further: Hennessy & Patterson, "Computer Architecture", appendix B.
    """
    rates = device.rates
    if measured := chase_gaccess_s(footprint_bytes, rates):
        return 1 / measured
    gather_ns = 1 / gather_gaccess_s(0, rates)
    near_ns = max(gather_ns, NEAR_LOAD_CLOCKS * clock_ns(device))
    return near_ns + LOADS_IN_FLIGHT * max(0.0, 1 / gather_gaccess_s(footprint_bytes, rates) - gather_ns)


def far_us(work: WorkCounts, device: Device, costs: Costs) -> float:
    """Return what bytes from beyond the nearest cache take, over what they would take from there [us]."""
    lanes = lanes_of(work, device)
    parts = [(part, executed(part, work.local_size, device)) for part in lanes.contexts]
    return _far_us(work, lanes, device.rates, costs, _scalar_shares(parts, work, lanes, costs))


def _far_us(work: WorkCounts, lanes: Lanes, rates: Rates, costs: Costs, shares: Mapping[Context, float]) -> float:
    """Return what bytes from beyond the nearest cache take, over what they would take from there [us].

    Each distinct byte of a buffer comes once from the level that the whole launch fits in, loads and stores side by
    side. Lone lines, where the data or a long stride choose them, come one by one.
    """
    whole_bytes = dict(work.buffer_bytes)
    spread_of = {
        access: _spread_bytes(access, work, lanes, whole_bytes.get(access.buffer, 0))
        for access in lanes.accesses
        if access.space in GLOBAL_SPACES
    }
    if max(work.global_footprint_bytes, *spread_of.values(), 0.0) <= SMALL_BYTES:
        return 0.0
    buffers: dict[tuple[str, bool], list[tuple[AccessCount, float]]] = defaultdict(list)
    for part in lanes.contexts:
        share = shares.get(part.context, 0.0)
        for access in (placed.access for placed in part.accesses if not placed.image):
            if access.space in GLOBAL_SPACES and not access.is_atomic:
                buffers[access.buffer, access.is_store].append((access, share))
    streams = {False: 0.0, True: 0.0}
    lone = 0.0
    rows_loaded: set[str] = set()
    brought: set[tuple[object, ...]] = set()
    # Loads come first: stores find the lines that they have brought.
    for (buffer, is_store), accesses in sorted(buffers.items(), key=lambda item: item[0][1]):
        whole = max(a.footprint_bytes for a, _ in accesses)
        far = max(work.global_footprint_bytes, whole)
        streamed = 0.0
        for access, scalar_share in accesses:
            lines = _lone_lines(access)
            if lines and (names := _strided_lines(access)) is not None:
                if names in brought:
                    continue
                brought.add(names)
            if _is_column(access):
                held = min(whole, _column_bytes(access))
                loads = access.count / math.pow(_neighbours_of_a_line(access, lanes), 1 - scalar_share)
                lone += 1e-3 * loads * _line_ns(access, held, rates, costs)
                streamed = max(streamed, access.footprint_bytes)
            elif lines:
                own = max(whole, spread_of.get(access, 0.0))
                lone += 1e-3 * _lone_ns(access, lines, own, far, lanes, rates, costs)
            elif access.pattern is Pattern.STRIDED:
                walks = 0 < abs(access.step_bytes or 0) < LINE_BYTES  # in a loop, through all of each line
                spread = 1.0 if walks else min(access.stride_bytes, LINE_BYTES) / max(1, access.element_bytes)
                streamed = max(streamed, min(access.bytes, access.footprint_bytes) * max(1.0, spread))
            else:
                streamed = max(streamed, access.footprint_bytes)
        if buffer not in rows_loaded:  # stores find the rows that were loaded
            rows_ns = max(_rows_ns(access, far, lanes, rates, costs) for access, _ in accesses)
            lone += 1e-3 * rows_ns
            if rows_ns:
                rows_loaded.add(buffer)
        streams[is_store] += streamed * _extra_us_per_byte(far, rates, is_store=is_store)
    return math.hypot(*streams.values()) + lone


def _lone_ns(
    access: AccessCount, lines: float, own: float, far: float, lanes: Lanes, rates: Rates, costs: Costs
) -> float:
    """Return the time of `lines` lone lines [ns]: they lie in `own` bytes of their own, and `far` of the launch."""
    sets = access.working_sets or ((1.0, own),)
    each_ns = sum(share * _line_ns(access, math.sqrt(held * max(held, far)), rates, costs) for share, held in sets)
    rows = _rows_of_a_line(access, lanes)
    first_ns = max(0.0, lines - access.waiting) * each_ns / rows
    if rows == 1:
        return first_ns
    kept = lanes.local_size[0] * _apart_bytes(abs(access.stride_bytes))
    again_ns = _line_ns(access, min(own, kept), rates, costs) * min(1.0, kept / SMALL_BYTES)
    return first_ns + lines * (1 - 1 / rows) * min(each_ns, again_ns)


def _line_ns(access: AccessCount, footprint_bytes: float, rates: Rates, costs: Costs) -> float:
    """Return the time of a lone line beyond that of one that is near [ns]."""
    if access.is_store:
        return max(0.0, costs.scatter_ns(footprint_bytes) - costs.between("scattered", 0.0))
    return max(0.0, 1 / gather_gaccess_s(footprint_bytes, rates) - 1 / gather_gaccess_s(0, rates))


def _extra_us_per_byte(footprint_bytes: float, rates: Rates, *, is_store: bool) -> float:
    near, far = bandwidth_gb_s(0, rates)[is_store], bandwidth_gb_s(footprint_bytes, rates)[is_store]
    return 1e-3 * max(0.0, 1 / far - 1 / near)


# --- lines of memory that caches fetch one by one, because no stream foretells them ---


def _lone_lines(access: AccessCount) -> float:
    """Lines that this access brings one by one, with nothing to foresee them."""
    if access.pattern is Pattern.GATHERED:
        return access.count
    step = abs(access.step_bytes or 0)
    if access.pattern is Pattern.STRIDED and access.stride_bytes >= LINE_BYTES and not 0 < step < LINE_BYTES:
        return access.count
    return 0.0


def _rows_of_a_line(access: AccessCount, lanes: Lanes) -> float:
    """Return how many rows of a group, one after the other, find their elements in the same lines."""
    if access.pattern is not Pattern.STRIDED or access.rows is None or len(lanes.local_size) < 2:
        return 1.0
    pattern, stride_bytes = access.rows
    if pattern is Pattern.GATHERED or not 0 < stride_bytes < LINE_BYTES:
        return 1.0
    return float(min(lanes.local_size[1], LINE_BYTES / stride_bytes))


def _rows_ns(access: AccessCount, far: float, lanes: Lanes, rates: Rates, costs: Costs) -> float:
    """Return what the rows of groups cost that begin at lines which no stream foretells [ns].

    A group that is several rows of a large array high, and narrow, goes on to another row before prefetchers know the
    first. Where a row of it is less than a line long, the next group finds the line again.
    """
    local = lanes.local_size
    if access.pattern is not Pattern.UNIT or access.rows is None or len(local) < 2 or local[1] < 2:
        return 0.0
    row_bytes, stride = local[0] * access.element_bytes, abs(access.rows[1])
    if access.rows[0] is not Pattern.STRIDED or row_bytes > NARROW_ROW_BYTES or stride < 2 * row_bytes:
        return 0.0
    rows = access.count / local[0]
    new = min(1.0, row_bytes / LINE_BYTES)
    kept = local[1] * _apart_bytes(stride)
    return rows * (
        new * _line_ns(access, far, rates, costs) + (1 - new) * _line_ns(access, min(far, kept), rates, costs)
    )


def _strided_lines(access: AccessCount) -> tuple[object, ...] | None:
    """Name the lines of a strided access, which are those of other fields of the same records; None where not known."""
    if access.pattern is not Pattern.STRIDED or access.end_bytes is None:
        return None
    return access.buffer, access.stride_bytes, access.step_bytes, access.count, access.end_bytes // LINE_BYTES


def _spread_bytes(access: AccessCount, work: WorkCounts, lanes: Lanes, buffer_bytes: float) -> float:
    """Return how large a dense array would be that caches and translation buffers keep as badly as these few lines.

    Of elements that lie far apart each takes a line and, beyond a page, a translation of its own; a large power of two
    apart they share few sets of a cache. Sources: Hennessy & Patterson, "Computer Architecture", appendix B.
    """
    stride = abs(access.stride_bytes)
    if access.pattern is not Pattern.STRIDED or stride < LINE_BYTES:
        return 0.0
    elements = min(access.count, access.footprint_bytes / max(1, access.element_bytes))
    spread = min(elements * max(min(stride, PAGE_BYTES), stride & -stride), buffer_bytes)
    is_sparse = access.end_bytes is not None and access.end_bytes >= LINE_BYTES * elements
    if is_sparse and access.count <= TOUCHED_ONCE * elements:
        return float(spread)  # no other row of work-items comes by for what is left of a line
    side = lanes.global_size[0] if lanes.global_size else work.work_items
    return float(min(spread, side * stride))


def _is_column(access: AccessCount) -> bool:
    """Return whether each work-item walks down a column whose lines are gone before its neighbour comes by."""
    return abs(access.step_bytes or 0) >= COLUMN_STEP_BYTES and access.trips >= COLUMN_STEPS


def _neighbours_of_a_line(access: AccessCount, lanes: Lanes) -> float:
    """Return how many work-items of a vector find their element in the same line."""
    width = min(VECTOR_LANES, lanes.width)
    return float(min(width, max(1.0, LINE_BYTES / abs(access.stride_bytes)) if access.stride_bytes else width))


def _column_bytes(access: AccessCount) -> float:
    """Return how large a dense array would be that is kept as badly as the lines of one column.

    The neighbour finds them where that fits.
    """
    return access.trips * _apart_bytes(abs(access.step_bytes or 0))


def _apart_bytes(step: int) -> float:
    """Return the bytes of a dense array that take as much room in caches as one of several lines `step` bytes apart.

    Each line has a translation of its own, and lines a large power of two apart share few sets of a cache, as in
    `_spread_bytes`. How large it may be depends on whether pages are large ones: the dataset's machines and an Intel
    Xeon (Sapphire Rapids) with small ones differ by this much.
    """
    return float(max(min(step, PAGE_BYTES), min(step & -step, APART_BYTES)))
