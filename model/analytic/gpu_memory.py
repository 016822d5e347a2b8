"""Time that a GPU's memory takes, and how work-groups spread: three levels that share their load, and no cliffs.

Bytes are counted where they pass: 128-byte lines that a core's cache or local memory gives out, sectors between the
cores and the last cache, and lines between that and memory. A work-group's bytes come once to its core, the launch's
once to the last cache; what is asked for again is found in a cache as far as what is asked for fits there. So time
grows with the footprint as smoothly as the share that does not fit. Sources: hierarchical roofline after Yang et al.,
"Hierarchical roofline analysis for GPUs", 2020; hit share of accesses spread over a footprint: capacity / footprint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from model.analytic.bandwidth import bandwidth_gb_s
from model.analytic.occupancy import occupancy
from model.architectures import architecture_of
from model.compiled_occupancy import OfflineFacts
from model.device import Device, Rates
from model.memory_levels import memory_levels
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, Pattern
from model.work.features.working_sets import WorkingSet
from model.work.work_counts import WorkCounts

# Chosen on the public rows (profiler/corpus/public): what real code reaches of each peak, how many of the source's
# integer operations remain when compilers have folded addresses and hoisted what loops repeat, and which part of what
# is asked for again comes so late that its place in the cache may be gone.
GPU_MEMORY_EFFICIENCY = 0.95  # of streams: fitted on three GPUs, see tests/catalog/README.md
GPU_CACHE_EFFICIENCY = 0.8
GPU_INTEGER_SHARE = 0.5
LATE_SHARE = 0.25
RESIDENT_GROUPS = 2  # of a core, whose bytes are asked for again at the same time
WARP, LINE_BYTES, SECTOR_BYTES, BANK_BYTES = 32, 128, 32, 4
LEAST_CACHE_BYTES = 2048  # of a group: what is on its way serves several of its warps
# Work-items that a core holds until its lanes are busy all the time (four warps for each of four schedulers cover
# the latency of arithmetic), and until its part of the device's bandwidth is used.
FILLING_ITEMS, STREAMING_ITEMS = 512, 512
# A stream through more than this many times the cache finds nothing left of its last pass.
GONE_AT = 1.5
_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class Caches:
    """The cache that the cores share, a larger one that may lie beyond it, and what each delivers [GB/s]."""

    last_bytes: float
    last_gb_s: float
    far_bytes: float  # 0: there is none
    far_gb_s: float
    read_gb_s: float  # of memory itself
    write_gb_s: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a launch moves at each level; each is at least the next."""

    near_lines: float  # of LINE_BYTES, that the cores' caches give out
    near_bytes: float
    last_bytes: float  # between the cores and the last cache
    far_bytes: float  # between the last cache and a larger one beyond it
    memory_bytes: float
    stored_share: float  # of the distinct bytes
    late_bytes: float = 0.0  # asked for again when the last cache may have lost them: waited for, if seldom moved


@lru_cache(maxsize=256)
def caches_of(device: Device) -> Caches:
    levels = device.rates.memory_levels or memory_levels(device.rates.bandwidth)
    if not levels:
        return Caches(device.cache_bytes, math.inf, 0.0, math.inf, math.inf, math.inf)
    memory = levels[-1]
    if len(levels) == 1:
        gb_s = memory.read_gb_s
        return Caches(device.cache_bytes, gb_s, 0.0, gb_s, gb_s, memory.write_gb_s)
    last, held = levels[-2], max(levels[-2].up_to_bytes or 0, device.cache_bytes)
    last_gb_s = max(last.read_gb_s, memory.read_gb_s)
    if len(levels) == 4:  # the cores' own, L2, one beyond
        return Caches(
            levels[1].up_to_bytes or 0, levels[1].read_gb_s, held, last_gb_s, memory.read_gb_s, memory.write_gb_s
        )
    return Caches(held, last_gb_s, 0.0, last_gb_s, memory.read_gb_s, memory.write_gb_s)


def missed(footprint_bytes: float, cache_bytes: float) -> float:
    """Return the share of repeated accesses, spread over a footprint, that a cache does not hold.

    It grows smoothly from 0.
    """
    return max(0.0, 1 - cache_bytes / footprint_bytes) if footprint_bytes > 0 else 0.0


def streamed(footprint_bytes: float, cache_bytes: float) -> float:
    """Return the share of a footprint, passed over once a launch, that the last launch did not leave in the cache."""
    if cache_bytes <= 0:
        return 1.0
    return min(1.0, max(0.0, (footprint_bytes / cache_bytes - 1) / (GONE_AT - 1)))


def usually_streamed(footprint_bytes: float, cache_bytes: float) -> float:
    """Return the same share for real caches, which lose lines before they are full; it grows without a cliff."""
    return min(1.0, (footprint_bytes / (GONE_AT * cache_bytes)) ** 2) if cache_bytes > 0 else 1.0


def rewritten_bytes(work: WorkCounts) -> float:
    """Distinct bytes of global memory that are loaded and stored: these pass twice, there and back."""
    most: dict[tuple[str, bool], float] = {}
    for access in work.accesses:
        if access.space in _GLOBAL and not access.is_atomic:
            key = access.buffer, access.is_store
            most[key] = max(most.get(key, 0.0), access.footprint_bytes)
    return sum(min(size, most.get((buffer, False), 0.0)) for (buffer, is_store), size in most.items() if is_store)


def gpu_traffic(work: WorkCounts, device: Device, code: OfflineFacts | None = None) -> Traffic:
    """Return what the launch moves, from the cores outwards."""
    own = [a for a in work.accesses if a.space in _GLOBAL and not a.is_atomic and a.count > 0]
    lanes = lanes_of(work)
    known, loaded = _known_lines(work, lanes), work.facts.loaded_shares
    lines = near = stored = touched = 0.0
    asked: dict[int, float] = {}
    for access in own:
        line_count, sector_count = known.get(id(access)) or lines_of(access, lanes)
        warps = access.count / lanes * loaded.get(id(access), 1.0)
        lines += warps * line_count
        asked[id(access)] = warps * sector_count * SECTOR_BYTES
        near += asked[id(access)]
        touched += access.footprint_bytes
        stored += access.footprint_bytes * access.is_store
    group_bytes, launch_bytes = work.facts.line_bytes
    groups = max(1.0, work.work_groups * work.facts.busy_share)
    hidden_bytes = _by_private_index(work)
    launch_bytes = min(near, (launch_bytes or work.global_footprint_bytes) + max(hidden_bytes))
    group_bytes += max(hidden_bytes) / groups
    once = min(near, max(launch_bytes, groups * group_bytes))
    caches = caches_of(device)
    fetched = fetched_bytes(work.facts.working_set, asked, groups, core_cache_bytes(work, device, code))
    within = max(0.0, min(near, fetched) - once)  # a group's own bytes, again
    at_once = min(launch_bytes, group_bytes * device.core_count * RESIDENT_GROUPS)
    passed = launch_bytes + min(launch_bytes, rewritten_bytes(work) + min(hidden_bytes))

    def beyond(held_bytes: float) -> tuple[float, float]:
        late = (once - launch_bytes) * missed(launch_bytes, held_bytes) + within * missed(at_once, held_bytes)
        return passed * usually_streamed(launch_bytes, held_bytes) + late * LATE_SHARE, late

    memory, late = beyond(max(caches.last_bytes, caches.far_bytes))
    far = beyond(caches.last_bytes)[0] if caches.far_bytes else 0.0
    return Traffic(lines, near, once + within, far, memory, stored / touched if touched else 0.0, late)


def _by_private_index(work: WorkCounts) -> tuple[float, float]:
    """Distinct bytes that are loaded and that are stored at places which private arrays hold: each once."""
    sums = {False: 0.0, True: 0.0}
    for facts in work.facts.accesses:
        if facts.count.space in _GLOBAL and facts.has_private_index:
            sums[facts.count.is_store] += facts.count.count * facts.count.element_bytes
    return sums[False], sums[True]


def core_cache_bytes(work: WorkCounts, device: Device, code: OfflineFacts | None = None) -> float:
    """Return what each of the groups that a core holds has of the core's cache."""
    architecture = architecture_of(device)
    held = min(occupancy(work, architecture, code).groups, max(1.0, work.work_groups / device.core_count))
    return max(LEAST_CACHE_BYTES, architecture.l1_bytes / held)


def fetched_bytes(working: WorkingSet, asked: Mapping[int, float], groups: float, cache_bytes: float) -> float:
    """Bytes that `groups` work-groups fetch into a cache of `cache_bytes`; `asked` by access where nothing is kept.

    A loop whose iterations' bytes fit together is fetched once; one whose do not, once an iteration at the least.
    """
    inner = sum(fetched_bytes(each, asked, groups, cache_bytes) for each in working.inner)
    again = inner + sum(asked.get(id(access), 0.0) for access in working.own)
    once = min(again, working.line_bytes * working.iterations * groups)
    return once + (again - once) * missed(working.line_bytes, cache_bytes)


def lanes_of(work: WorkCounts) -> float:
    """Work-items in each warp of a group: fewer than `WARP` where the group does not fill its last one."""
    items = max(1.0, work.work_items / max(1, work.work_groups))
    return items / math.ceil(items / WARP)


def _known_lines(work: WorkCounts, lanes: float) -> dict[int, tuple[float, float]]:
    """128-byte lines and 32-byte sectors that a warp asks for, by access, where its lanes' places are known."""
    found = {}
    for facts in work.facts.accesses:
        if facts.is_uniform:
            found[id(facts.count)] = lines_of(replace(facts.count, pattern=Pattern.BROADCAST), lanes)
            continue
        if facts.has_private_index:
            found[id(facts.count)] = lines_of(replace(facts.count, pattern=Pattern.UNIT), lanes)
            continue
        fetched = facts.usual_transactions if facts.count.space in _GLOBAL else None
        if fetched is not None:
            words = facts.count.element_bytes * lanes / LINE_BYTES
            lines = max(fetched.lines, words if facts.count.pattern is not Pattern.BROADCAST else 1.0)
            found[id(facts.count)] = lines, max(fetched.sectors, 1.0)
    return found


def lines_of(access: AccessCount, lanes: float = WARP) -> tuple[float, float]:
    """As `_known_lines`, from how neighbours stand to each other alone."""
    width = max(1, access.element_bytes)
    match access.pattern:
        case Pattern.BROADCAST:
            return max(1.0, width / LINE_BYTES), max(1.0, width / SECTOR_BYTES)
        case Pattern.UNIT:
            span = lanes * width
        case Pattern.STRIDED:
            span = lanes * max(width, access.stride_bytes)
        case Pattern.GATHERED:
            span = math.inf
    each = max(1.0, width / SECTOR_BYTES)
    lines = max(min(span / LINE_BYTES, lanes), lanes * width / LINE_BYTES)
    return lines, max(1.0, min(span / SECTOR_BYTES, lanes * each))


def local_memory_us(work: WorkCounts, device: Device) -> float:
    """Local memory with all cores busy [us]: a core serves one bank's word a cycle to each of a warp's lanes.

    Lanes that ask one bank for different words are served one after the other. Source: "CUDA C++ Best Practices
    Guide", shared memory and memory banks.
    """
    lanes, loaded = lanes_of(work), work.facts.loaded_shares
    turns = sum(
        facts.count.count
        * loaded.get(id(facts.count), 1.0)
        / lanes
        * max(facts.count.element_bytes / BANK_BYTES, facts.bank_conflict_degree or 1.0)
        for facts in work.facts.accesses
        if facts.count.space is AddressSpace.LOCAL and not facts.count.is_atomic
    )
    return 1e-3 * turns * LINE_BYTES / device.rates.local_bandwidth_gb_s


def memory_times_us(traffic: Traffic, device: Device) -> tuple[float, float, float]:
    """Return each level's time [us] with all cores busy.

    The levels are the cores' caches, the one that they share, and what lies beyond.
    """
    caches = caches_of(device)
    line_gop_s = device.core_count * architecture_of(device).l1_bytes_per_clock / LINE_BYTES * device.clock_mhz / 1000
    share = traffic.stored_share
    each_byte = (1 - share) / caches.read_gb_s + share / caches.write_gb_s
    return (
        1e-3 * traffic.near_lines / line_gop_s,
        1e-3 * traffic.last_bytes / caches.last_gb_s,
        1e-3 * max(traffic.memory_bytes * each_byte, traffic.far_bytes / caches.far_gb_s),
    )


def idle_lanes(work: WorkCounts, device: Device) -> float:
    """Return how many lanes a group occupies for each of its work-items: at least 1."""
    items = max(1.0, work.work_items / max(1, work.work_groups))
    together = max(1, device.preferred_multiple)
    return max(1.0, math.ceil(items / together) * together / items)


def crowding(work: WorkCounts, device: Device, busy_share: float = 1.0) -> float:
    """Return how much longer it takes than on evenly filled cores.

    Some have a group more than others, or all too few work-items. `busy_share` of the launch's work-items do the work;
    those beyond the bounds fill no core.
    """
    groups = max(1, work.work_groups)
    lanes = work.work_items / groups * idle_lanes(work, device)
    on_each = groups * busy_share / device.core_count
    return max(math.ceil(on_each), FILLING_ITEMS / max(1.0, lanes)) / on_each


def streaming(work: WorkCounts, device: Device) -> float:
    """Return how much longer than with enough work-items under way to use the whole bandwidth."""
    lanes = work.work_items * work.facts.busy_share * idle_lanes(work, device)
    return max(1.0, STREAMING_ITEMS * device.core_count / max(1.0, lanes))


def line_time_us(access: AccessCount, rates: Rates, launch_footprint_bytes: float) -> float:
    """Return the time of one access alone [us], for shares of lines.

    Distinct bytes are fetched once from where the launch fits, others again.
    """
    _, sectors = lines_of(access)
    moved = access.count / WARP * sectors * SECTOR_BYTES
    spread = max(1.0, moved / max(1.0, access.bytes)) if access.pattern is not Pattern.BROADCAST else 1.0
    first = min(moved, access.footprint_bytes * spread)
    near = _blended_gb_s(access, access.footprint_bytes, rates)
    far = _blended_gb_s(access, max(access.footprint_bytes, launch_footprint_bytes), rates)
    return 1e-3 * (first / far + (moved - first) / near)


def _blended_gb_s(access: AccessCount, footprint_bytes: float, rates: Rates) -> float:
    read, write = bandwidth_gb_s(footprint_bytes, rates)
    return write if access.is_store else read
