"""How neighbouring work-items stand to each other in one access."""

from __future__ import annotations

from collections import Counter

from model.work.counts import Pattern
from model.work.expressions.contents import held_at
from model.work.expressions.evaluate import evaluate
from model.work.expressions.intervals import slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear_sums import Slopes
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import GLOBAL_ID, LOCAL_ID, NEIGHBOURS, Atom, Expression, Point
from model.work.regions.region import Access

_TRIES = (0, 1, 5, 10)


def pattern_of(
    access: Access, known: LaunchBindings, point: Point, ranges: dict[Atom, tuple[int, int]], dimension: int = 0
) -> tuple[Pattern, int]:
    """Return the pattern and the distance in bytes between lanes i and i+1 of a dimension.

    The index is evaluated at neighbouring lanes, everything else in the middle of its range: that also reads
    indices with `%`, `/` or masks. What the data decide is gathered.
    """
    offset = access.offset
    if access.is_image:
        return Pattern.UNIT, access.element_bytes
    if offset is None:
        return Pattern.GATHERED, 0
    ids = NEIGHBOURS[dimension]
    plain = slopes_of(offset, known)
    if plain is not None:
        if ids.isdisjoint(offset.leaves):
            return Pattern.BROADCAST, 0
        distance = sum(slope for atom, slope in plain.slopes if atom in ids)
        return _named(abs(distance), access) if plain.is_decided(point, ranges, ids) else (Pattern.GATHERED, 0)
    if is_scattered(offset, known, dimension):
        return Pattern.GATHERED, 0
    if not offset.leaves & ids:
        return (Pattern.GATHERED, 0) if _data_dependent(offset, known) else (Pattern.BROADCAST, 0)
    now: dict[Atom, Value] = {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
    start = now.get(GLOBAL_ID[dimension], 0) // 16 * 16
    now.update(point)
    steps: Counter[int] = Counter()
    values: dict[int, Value | None] = {}
    for first in _TRIES:
        for lane in (first, first + 1):
            if lane not in values:
                now[GLOBAL_ID[dimension]], now[LOCAL_ID[dimension]] = start + lane, lane
                values[lane] = evaluate(offset, known, now)
        a, b = values[first], values[first + 1]
        if a is not None and b is not None:
            steps[round(b - a)] += 1
    if not steps:
        return Pattern.GATHERED, 0
    return _named(abs(steps.most_common(1)[0][0]), access)


def _named(stride: int, access: Access) -> tuple[Pattern, int]:
    if stride == 0:
        return Pattern.BROADCAST, 0
    return (Pattern.UNIT if stride <= access.element_bytes else Pattern.STRIDED), stride


def step_of(access: Access, known: LaunchBindings, point: Point, ranges: dict[Atom, tuple[int, int]]) -> int | None:
    """Bytes from one iteration of the innermost loop around the access to the next; None where there is no order."""
    if access.offset is None:
        return None
    plain = slopes_of(access.offset, known)
    if plain is not None:
        return _plain_step(access, plain.parts.counter, plain, point, ranges)
    counters = [a for a in access.offset.leaves if a.kind == "symbol" and str(a.arguments[0]).startswith("loop.")]
    return step_in(access, max(counters, key=lambda a: a.serial), known, point, ranges) if counters else None


def step_in(
    access: Access, counter: Atom, known: LaunchBindings, point: Point, ranges: dict[Atom, tuple[int, int]]
) -> int | None:
    """Bytes from one iteration of the loop with this counter to the next; None where there is no order."""
    offset = access.offset
    plain = slopes_of(offset, known) if offset is not None else None
    if plain is not None:
        return _plain_step(access, counter, plain, point, ranges)
    if offset is None or access.is_image or _data_dependent(offset, known):
        return None
    if any(leaf.kind == "load" and counter in leaf.leaves for leaf in offset.leaves):
        return None
    middle = {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
    here = {**middle, **point}
    here.setdefault(counter, 0)
    a, b = evaluate(offset, known, here), evaluate(offset, known, {**here, counter: here[counter] + 1})
    return round(b - a) if a is not None and b is not None else None


def _plain_step(
    access: Access, counter: Atom | None, plain: Slopes, point: Point, ranges: dict[Atom, tuple[int, int]]
) -> int | None:
    if counter is None or access.is_image or not plain.is_decided(point, ranges, (counter,)):
        return None
    return plain.slope(counter)


def is_scattered(offset: Expression, known: LaunchBindings, dimension: int = 0) -> bool:
    """Return whether what is loaded differs from lane to lane of a dimension without order."""
    for leaf in offset.leaves:
        if leaf.kind == "unknown" and leaf not in known.parameters:
            return True
        if leaf.kind == "load" and leaf.leaves & NEIGHBOURS[dimension]:
            contents = held_at(leaf, known.contents)
            if contents is None or not contents.is_smooth:
                return True
    return False


def _data_dependent(offset: Expression, known: LaunchBindings) -> bool:
    return any(leaf.kind == "unknown" and leaf not in known.parameters for leaf in offset.leaves)
