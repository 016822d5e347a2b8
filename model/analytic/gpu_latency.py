"""What a GPU's latencies cost: how long a warp needs from its first instruction to its last, round after round.

A core hides latency by running other warps meanwhile: it needs at least one warp's time for each round of the groups
that it can hold together. Sources: Hong and Kim, "An analytical model for a GPU architecture with memory-level and
thread-level parallelism awareness", ISCA 2009; Volkov, "Understanding latency hiding on GPUs", 2016.
"""

from __future__ import annotations

from collections import defaultdict

from model.analytic.gpu_memory import LATE_SHARE, Traffic
from model.analytic.occupancy import occupancy
from model.architectures import Architecture, architecture_of
from model.compiled_occupancy import OfflineFacts
from model.device import Device
from model.opencl.types import AddressSpace
from model.work.expressions.symbolic import Atom, Expression
from model.work.features.access_facts import GLOBAL_SPACES, AccessFacts
from model.work.regions.region import Loop
from model.work.work_counts import WorkCounts

AHEAD = 4  # iterations of a loop whose loads compilers and cores have under way together
MOST_AHEAD = 32  # loads of one work-item that its registers have room for
SMALL_SHARE = 1 / 4  # of a core's cache, that stays there though others pass through it
AGAIN = 16  # times that what stays there is asked for
PARALLEL_INSTRUCTIONS = 2.0  # of one warp, whose latencies overlap


def latency_us(work: WorkCounts, device: Device, load_cycles: float, code: OfflineFacts | None = None) -> float:
    """Return the time of all rounds of groups, each as long as its longest chain of waiting.

    `load_cycles`: what a load of global memory takes on average, given where it is found.
    """
    architecture = architecture_of(device)
    held = occupancy(work, architecture, code)
    busy = max(1.0, work.work_groups * work.facts.busy_share)
    rounds = max(1.0, busy / (held.groups * device.core_count))
    return rounds * warp_cycles(work, architecture, load_cycles) / device.clock_mhz


def load_cycles(traffic: Traffic, architecture: Architecture, warp_slowdown: float = 1.0) -> float:
    """Return what a warp's load of global memory takes on average, by the share of the bytes each level delivers.

    A warp that only part of its lanes load for (`warp_slowdown` times as many load) waits as long as a full one.
    """
    asked = max(1.0, traffic.near_bytes * warp_slowdown)
    beyond_core, beyond_chip = (
        min(1.0, moved / asked)
        for moved in (traffic.last_bytes, traffic.memory_bytes + (1 - LATE_SHARE) * traffic.late_bytes)
    )
    first, second, last = (
        architecture.load_latency_l1_cycles, architecture.load_latency_l2_cycles, architecture.load_latency_dram_cycles,
    )  # fmt: skip
    return first + beyond_core * (second - first) + beyond_chip * (last - second)


def warp_cycles(work: WorkCounts, architecture: Architecture, load_cycles: float) -> float:
    """Cycles from a warp's first instruction to its last when nothing else runs on its core."""
    items = max(1.0, work.work_items * work.facts.busy_share)
    waiting = sum(executed / items * cycles for executed, cycles in _waits(work, architecture, load_cycles))
    instructions = max(0.0, sum(op.count for op in work.ops) - work.facts.fused_integers) / items
    in_line = work.chain_ops / items
    arithmetic = architecture.fma_latency_cycles * max(in_line, instructions / PARALLEL_INSTRUCTIONS)
    return (waiting + arithmetic) * work.facts.warp_slowdown


def _waits(work: WorkCounts, architecture: Architecture, load_cycles: float) -> list[tuple[float, float]]:
    """Return how often loads are waited for, and for how many cycles.

    Those of one iteration are waited for together.
    """
    settings, loaded = work.facts.paths.settings.accesses, work.facts.loaded_shares
    together: dict[tuple[int, bool], list[AccessFacts]] = defaultdict(list)
    innermost: dict[int, Loop] = {}
    for facts in work.facts.accesses:
        count = facts.count
        if count.count > 0 and (not count.is_store or count.is_atomic):
            setting = settings.get(id(facts.reach.access))
            key = 0
            if setting is not None and setting.loops:
                key = id(setting.loops[-1])
                innermost[key] = setting.loops[-1]
            together[key, count.space is AddressSpace.LOCAL].append(facts)
    near = _small_tables(work, architecture)
    found = []
    for (key, is_local), those in together.items():
        loop = innermost.get(key)
        ahead = 1.0 if loop is None else _ahead(loop)
        executed = max(f.count.count * loaded.get(id(f.count), 1.0) for f in those)
        if is_local:
            found.append((executed / ahead, float(architecture.local_latency_cycles)))
            continue
        own = [f for f in those if f.count.space in GLOBAL_SPACES]
        if not own:
            continue
        cycles = max(_cycles(facts, loop, near, architecture, load_cycles) for facts in own)
        follows = any(_follows_itself(facts) for facts in own)
        found.append((executed if follows else executed / ahead, cycles))
    return found


def _cycles(
    facts: AccessFacts, loop: Loop | None, near: frozenset[str], architecture: Architecture, load_cycles: float
) -> float:
    """Return how long a load is waited for, with the one that its index comes from where that is in the loop, too."""
    first = float(architecture.load_latency_l1_cycles)
    own = first if facts.count.buffer in near else load_cycles
    indices = _index_buffers(facts, loop)
    if not indices:
        return own
    return own + (first if indices <= near else load_cycles)


def _small_tables(work: WorkCounts, architecture: Architecture) -> frozenset[str]:
    """Return the buffers that stay in a core's cache: a small part of it, which each group asks for again and again.

    By group, since what a launch asks for in all grows with it, and no load gets faster for that.
    """
    asked: dict[str, float] = defaultdict(float)
    held: dict[str, float] = defaultdict(float)
    unknown: set[str] = set()  # how much of them is touched
    for facts in work.facts.accesses:
        access = facts.count
        if access.space in GLOBAL_SPACES and not access.is_atomic and access.count > 0:
            asked[access.buffer] += access.bytes
            held[access.buffer] = max(held[access.buffer], access.footprint_bytes)
            if not facts.launch.is_exact:
                unknown.add(access.buffer)
    most_bytes = architecture.l1_bytes * SMALL_SHARE
    groups = max(1.0, work.work_groups * work.facts.busy_share)
    return frozenset(
        buffer
        for buffer, size in held.items()
        if buffer not in unknown and size <= most_bytes and asked[buffer] >= AGAIN * size * groups
    )


def _ahead(loop: Loop) -> float:
    """Return the iterations whose loads are under way together: all of a short loop, which compilers unroll."""
    trips = loop.trips.constant
    return float(trips) if trips is not None and AHEAD <= trips <= MOST_AHEAD else AHEAD


def _index_buffers(facts: AccessFacts, loop: Loop | None) -> frozenset[str]:
    """`x[column[i]]` waits for two loads, one after the other, unless `i` stays as it is while `loop` runs.

    Return the buffers that the index is loaded from then.
    """
    offset = facts.reach.access.offset
    if offset is None or not offset.has("load") or _follows_itself(facts):
        return frozenset()
    loads = [atom for atom in _atoms(offset) if atom.kind == "load"]
    if loads and loop is not None and not any(loop.counter in e.leaves for atom in loads for e in atom.operands):
        return frozenset()
    return frozenset(str(leaf.arguments[0]) for leaf in offset.leaves if leaf.kind == "load")


def _follows_itself(facts: AccessFacts) -> bool:
    """`j = next[j]`: no iteration's load begins before the one of the iteration before has come."""
    offset = facts.reach.access.offset
    if offset is None:
        return False
    if offset.has("unknown"):
        return not facts.is_uniform
    return any(atom.kind == "iterate" and _loads(atom) for atom in _atoms(offset))


def _loads(atom: Atom) -> bool:
    return any(leaf.kind == "load" for leaf in atom.leaves)


def _atoms(expression: Expression) -> set[Atom]:
    """Return all atoms in `expression`, each looked into once: round by round of a cipher they share their parts."""
    found: set[Atom] = set()
    stack = [expression]
    while stack:
        for monomial, _ in stack.pop().terms:
            for atom in monomial:
                if atom not in found:
                    found.add(atom)
                    stack += atom.operands
    return found
