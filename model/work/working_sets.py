"""What a work-group touches again and again: its distinct bytes as a whole, and in one iteration of each loop.

A cache that holds the bytes of one iteration of a loop fetches them once for each iteration; one that holds those of
all iterations fetches them once. So traffic between two levels of memory follows from the footprints along the loop
nest. Source: loop-nest reuse analysis after Wolf and Lam, "A data locality optimizing algorithm", PLDI 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.work.counts import AccessCount
from model.work.divergence import Paths
from model.work.footprint import Reach, footprint_of
from model.work.reached import Visit
from model.work.region import Loop
from model.work.scopes import Scope, volume
from model.work.settings import Setting

Read = tuple[Reach, AccessCount]
Placed = tuple[Reach, AccessCount, tuple[Loop, ...]]  # with the loops around it, outermost first


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Global and constant memory of a typical work-group, in one iteration of the loop on `line` or as a whole (None).

    `line_bytes`: distinct lines of one iteration. `iterations`: how many of them the group runs in all. `own` are the
    accesses that stand in no loop further in.
    """

    line: int | None
    line_bytes: float
    iterations: float
    own: tuple[AccessCount, ...]
    inner: tuple[WorkingSet, ...]


def working_set(read: Sequence[Read], paths: Paths) -> WorkingSet:
    """The whole tree; `read` are the accesses of global and constant memory, images left out."""
    found = paths.settings.accesses
    placed = [(reach, count, found.get(id(reach.access), Setting()).loops) for reach, count in read]
    return _node(None, 0, 1.0, placed, paths)


def _node(
    loop: Loop | None,
    depth: int,
    iterations: float,
    placed: list[tuple[Reach, AccessCount, tuple[Loop, ...]]],
    paths: Paths,
) -> WorkingSet:
    inner: dict[int, list[Placed]] = {}
    own = []
    for each in placed:
        if len(each[2]) > depth:
            inner.setdefault(id(each[2][depth]), []).append(each)
        else:
            own.append(each[1])
    children = []
    for those in inner.values():
        one = those[0][2][depth]
        trips = _trips(one, paths)
        children.append(_node(one, depth + 1, iterations * trips, those, paths))
    line_bytes = _line_bytes(placed, depth, paths)
    # What stands in an iteration is sampled where it is not affine: all of them together touch no less than the loop.
    apart = sum(each.line_bytes * each.iterations for each in children) / iterations
    short = line_bytes / apart if len(children) == 1 and not own and 0 < apart < line_bytes else 1.0
    if short > 1:
        children = [_scaled(each, short) for each in children]
    return WorkingSet(None if loop is None else loop.line, line_bytes, iterations, tuple(own), tuple(children))


def _scaled(working: WorkingSet, factor: float) -> WorkingSet:
    inner = tuple(_scaled(each, factor) for each in working.inner)
    return replace(working, line_bytes=working.line_bytes * factor, inner=inner)


def _trips(loop: Loop, paths: Paths) -> float:
    parents = {id(each): block for each, _, block in paths.settings.loops}
    return max(1.0, paths.runs(loop.body) / max(1.0, paths.runs(parents[id(loop)])))


def _line_bytes(placed: Sequence[Placed], depth: int, paths: Paths) -> float:
    buffers: dict[str, list[Reach]] = {}
    for reach, count, loops in placed:
        buffers.setdefault(count.buffer, []).append(_pinned(reach, loops[:depth], paths) if depth else reach)
    return sum(
        footprint_of(reaches, Scope.GROUP, paths.walk, paths.shape, lines=True, rows_on_lines=True).line_bytes
        for reaches in buffers.values()
    )


def _pinned(reach: Reach, loops: Sequence[Loop], paths: Paths) -> Reach:
    """The access in one iteration in the middle of each of `loops`."""
    counters = [loop.counter for loop in loops]
    key = (id(reach.visits), tuple(id(loop) for loop in loops))
    kept = paths.pinned
    if key not in kept:
        visits: list[Visit] = []
        for weight, point, ranges in reach.visits:
            now = dict(ranges)
            at = dict(point)
            for counter in counters:
                if counter in now:
                    low, high = now.pop(counter)
                    at[counter] = (low + high - 1) // 2
            share = volume(now, paths.shape) / max(1.0, volume(ranges, paths.shape))
            visits.append((weight * share, at, now))
        kept[key] = visits
    return Reach(reach.access, kept[key], reach.extent, reach.limit_bytes)
