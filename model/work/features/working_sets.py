"""What a work-group touches again and again: its distinct bytes as a whole, and in one iteration of each loop.

A cache that holds the bytes of one iteration of a loop fetches them once for each iteration; one that holds those of
all iterations fetches them once. So traffic between two levels of memory follows from the footprints along the loop
nest. Source: loop-nest reuse analysis after Wolf and Lam, "A data locality optimizing algorithm", PLDI 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.work.counts import AccessCount
from model.work.features.divergence import Paths
from model.work.memory.footprint import Reach, footprint_of
from model.work.memory.scopes import Scope, volume
from model.work.regions.enclosing_scopes import Setting
from model.work.regions.region import Loop
from model.work.walk.access_extents import Visit

TOGETHER = 16  # iterations in which steps of an element stay on a line of 64 bytes
Read = tuple[Reach, AccessCount]
Pins = tuple[tuple[Loop, int], ...]  # loops, outermost first, and how many of their iterations
Placed = tuple[Reach, AccessCount, tuple[Loop, ...]]  # with the loops around it, outermost first


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Global and constant memory of a typical work-group, in one iteration of the loop on `line` or as a whole (None).

    `line_bytes`: distinct lines of one iteration. `iterations`: how many of them the group runs in all. `own` are the
    accesses that no inner loop holds.
    """

    line: int | None
    line_bytes: float
    iterations: float
    own: tuple[AccessCount, ...]
    inner: tuple[WorkingSet, ...]


def working_set(read: Sequence[Read], paths: Paths) -> WorkingSet:
    """Return the whole tree; `read` are the accesses of global and constant memory, images left out."""
    found = paths.settings.accesses
    placed = [(reach, count, found.get(id(reach.access), Setting()).loops) for reach, count in read]
    return _node((), 0, 1.0, placed, paths)


def _node(pins: Pins, depth: int, iterations: float, placed: Sequence[Placed], paths: Paths) -> WorkingSet:
    """Return what `placed` touch in the part of their outer `depth` loops that `pins` say."""
    inner: dict[int, list[Placed]] = {}
    for each in placed:
        if len(each[2]) > depth:
            inner.setdefault(id(each[2][depth]), []).append(each)
    own = tuple(count for _, count, loops in placed if len(loops) == depth)
    children = [_loop(pins, depth, iterations, those, paths) for those in inner.values()]
    line_bytes = _line_bytes(placed, pins, paths)
    return _whole(pins[-1][0].line if pins else None, line_bytes, iterations, own, children)


def _loop(pins: Pins, depth: int, begun: float, placed: Sequence[Placed], paths: Paths) -> WorkingSet:
    """Return a loop that is begun so often: some iterations together, whose lines are the same, and each by itself."""
    loop = placed[0][2][depth]
    trips = _trips(loop, paths)
    each = _node((*pins, (loop, 1)), depth + 1, begun * trips, placed, paths)
    if trips < 2 * TOGETHER:
        return each
    line_bytes = _line_bytes(placed, (*pins, (loop, TOGETHER)), paths)
    return _whole(loop.line, line_bytes, begun * trips / TOGETHER, (), [each])


def _whole(
    line: int | None, line_bytes: float, iterations: float, own: tuple[AccessCount, ...], children: list[WorkingSet]
) -> WorkingSet:
    # Where an index is not affine an iteration is sampled: all of them together touch no less than the whole.
    apart = sum(each.line_bytes * each.iterations for each in children) / iterations
    if len(children) == 1 and not own and 0 < apart < line_bytes:
        children = [_scaled(each, line_bytes / apart) for each in children]
    return WorkingSet(line, line_bytes, iterations, own, tuple(children))


def _scaled(working: WorkingSet, factor: float) -> WorkingSet:
    inner = tuple(_scaled(each, factor) for each in working.inner)
    return replace(working, line_bytes=working.line_bytes * factor, inner=inner)


def _trips(loop: Loop, paths: Paths) -> float:
    parents = {id(each): block for each, _, block in paths.settings.loops}
    return max(1.0, paths.runs(loop.body) / max(1.0, paths.runs(parents[id(loop)])))


def _line_bytes(placed: Sequence[Placed], pins: Pins, paths: Paths) -> float:
    buffers: dict[str, list[Reach]] = {}
    for reach, count, _ in placed:
        buffers.setdefault(count.buffer, []).append(_pinned(reach, pins, paths) if pins else reach)
    return sum(
        footprint_of(reaches, Scope.GROUP, paths.walk, paths.shape, lines=True, rows_on_lines=True).line_bytes
        for reaches in buffers.values()
    )


def _pinned(reach: Reach, pins: Pins, paths: Paths) -> Reach:
    """Return the access in as many iterations as `pins` say in the middle of each loop."""
    key = (id(reach.visits), tuple((id(loop), length) for loop, length in pins))
    kept = paths.pinned
    if key not in kept:
        visits: list[Visit] = []
        for weight, point, ranges in reach.visits:
            now, at = dict(ranges), dict(point)
            for loop, length in pins:
                if loop.counter in now:
                    low, high = now.pop(loop.counter)
                    middle = low + max(0, (high - low - length) // 2 // length * length)
                    if length == 1:
                        at[loop.counter] = middle
                    else:
                        now[loop.counter] = middle, min(high, middle + length)
            share = volume(now, paths.shape) / max(1.0, volume(ranges, paths.shape))
            visits.append((weight * share, at, now))
        kept[key] = visits
    return Reach(reach.access, kept[key], reach.extent, reach.limit_bytes)
