"""Lanes of a warp: where each of 32 neighbouring work-items stands in an access, and whether it takes part.

Work-items of a group are numbered with dimension 0 fastest, and every 32 in a row make a warp: "CUDA C++ Programming
Guide", thread hierarchy; AMD's wavefronts are made alike ("AMD OpenCL Optimization Guide").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from model.work.evaluate import Knowledge, evaluate, interval
from model.work.linear import LinearReader, NotLinear
from model.work.numbers import EVALUATED, Value
from model.work.reached import Point, Ranges, Visit
from model.work.region import Access
from model.work.scopes import Scope, Shape, is_counter, typical
from model.work.settings import Setting
from model.work.slopes import Slopes, slopes_of
from model.work.symbolic import GLOBAL_ID, LOCAL_ID, Atom, Expression
from model.work.touched import related_ids

WARP_LANES = 32
MAX_VISITS = 4
MAX_WARPS = 128  # of a group; devices have 32, and CPUs a few more
MAX_COUNTER_VALUES = 4
LANE_IDS = frozenset((*GLOBAL_ID, *LOCAL_ID))


@dataclass(frozen=True, slots=True)
class Warp:
    """The byte offsets at which the active lanes of one warp execute an access; `weight` is how often that is met."""

    offsets: tuple[int, ...]
    weight: float


def warps_of(
    access: Access, visits: list[Visit], setting: Setting, known: Knowledge, shape: Shape, lanes: int = WARP_LANES
) -> list[Warp]:
    """Typical warps that execute `access`; none where the data decide the place."""
    if access.offset is None:
        return []
    found: list[Warp] = []
    group = typical(visits, Scope.GROUP, shape)
    for weight, point, ranges in _spread(group, MAX_VISITS):
        counters = [a for a in access.offset.leaves & ranges.keys() if is_counter(a)]
        for now, rest, part in _counted(counters, point, ranges):
            offsets = _offsets(access.offset, now, rest, setting, known, shape, lanes)
            if offsets:
                found.append(Warp(offsets, weight * part))
    return found


def _spread(group: Sequence[Visit], most: int) -> Sequence[Visit]:
    if len(group) <= most:
        return group
    return [group[(2 * j + 1) * len(group) // (2 * most)] for j in range(most)]


def _counted(counters: Sequence[Atom], point: Point, ranges: Ranges) -> Iterator[tuple[Point, Ranges, float]]:
    """The first counter at a few of its values, the others in their middle."""
    rest = {a: r for a, r in ranges.items() if a not in counters}
    middle = {a: (ranges[a][0] + ranges[a][1] - 1) // 2 for a in counters}
    if not counters:
        yield point, rest, 1.0
        return
    first = max(counters, key=lambda a: a.serial)
    low, high = ranges[first]
    values = min(high - low, MAX_COUNTER_VALUES)
    for j in range(values):
        yield {**point, **middle, first: low + (2 * j + 1) * (high - low) // (2 * values)}, rest, 1 / values


def _offsets(
    offset: Expression, point: Point, ranges: Ranges, setting: Setting, known: Knowledge, shape: Shape, lanes: int
) -> tuple[int, ...]:
    """Of the first warp in the group that has an active lane."""
    at = by_lane(offset, point, ranges, known, shape)
    conditions = [
        (by_lane(condition, point, ranges, known, shape), holds)
        for condition, holds in _undecided(setting, point, ranges, known)
    ]
    for start in warp_starts(shape, MAX_WARPS, lanes):
        offsets: list[int] = []
        for ids in lanes_of(start, lanes, ranges, shape):
            if conditions and any(bool(test(ids)) is not holds for test, holds in conditions):
                continue
            value = at(ids)
            if value is None:
                return ()
            offsets.append(round(value))
        if offsets:
            return tuple(offsets)
    return ()


def warp_starts(shape: Shape, most: int, lanes: int = WARP_LANES) -> Sequence[int]:
    """The first lane of each warp of a group, or of `most` of them."""
    starts = range(0, shape.group_items, lanes)
    return starts if len(starts) <= most else [starts[(2 * j + 1) * len(starts) // (2 * most)] for j in range(most)]


def lanes_of(start: int, lanes: int, ranges: Ranges, shape: Shape) -> list[dict[Atom, int]]:
    """The ids of so many lanes of the group at hand from `start` on; those outside `ranges` are not active."""
    return _lanes(start, min(start + lanes, shape.group_items), shape.local, *map(ranges.get, _LANES_REST_ON))


_LANES_REST_ON = (*GLOBAL_ID, *LOCAL_ID)
_Span = tuple[int, int] | None


@lru_cache(256)
def _lanes(start: int, end: int, local: tuple[int, int, int], *spans: _Span) -> list[dict[Atom, int]]:
    """All conditions and accesses of a launch look at the same few groups."""
    whole, within = spans[:3], spans[3:]
    found: list[dict[Atom, int]] = []
    for places in _places(start, end, local):
        ids: dict[Atom, int] = {}
        for d in range(3):
            low, high = within[d] or (0, local[d])
            place = places[d]
            if not low <= place < high:
                break
            ids[LOCAL_ID[d]] = place
            span = whole[d]
            if span is not None:
                ids[GLOBAL_ID[d]] = span[0] - low + place
        else:
            found.append(ids)
    return found


@lru_cache(128)
def _places(start: int, end: int, local: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """The local ids of lanes."""
    width, height, depth = local
    return [(lane % width, lane // width % height, lane // (width * height) % depth) for lane in range(start, end)]


ByLane = Callable[[dict[Atom, int]], Value | None]


def by_lane(expression: Expression, point: Point, ranges: Ranges, known: Knowledge, shape: Shape) -> ByLane:
    """`expression` as a function of a lane's ids: by its linear form where it has one, which is much faster."""
    atom = expression.atom
    parts = atom.operands if atom is not None else ()
    if atom is not None and atom.kind in _LOGIC and not isinstance(atom.arguments[0], str):
        inner = [by_lane(part, point, ranges, known, shape) for part in parts]
        return _pair(atom.kind, *inner) if len(inner) == 2 else _single(atom.kind, *inner)
    plain = slopes_of(expression, known)
    if plain is not None:
        return _along(plain, point, ranges)
    reader = LinearReader(known, point, ranges, related_ids(expression, point, ranges, shape))
    try:
        index = reader.read(expression)
    except NotLinear:
        return lambda ids: evaluate(expression, known, {**point, **ids})
    if not (reader.is_exact and reader.is_pointwise) or not all(atom in LANE_IDS for (atom, _), _ in index.slopes):
        return lambda ids: evaluate(expression, known, {**point, **ids})
    base = index.base
    digits = [(a, reader.low(a), place, reader.count((a, place)), slope) for (a, place), slope in index.slopes]
    return lambda ids: base + sum(slope * ((ids[a] - low) // p % count) for a, low, p, count, slope in digits)


def _along(plain: Slopes, point: Point, ranges: Ranges) -> ByLane:
    base: Value = plain.base
    slopes: list[tuple[Atom, int]] = []
    for atom, slope in plain.slopes:
        value = point.get(atom)
        if value is not None:
            base += slope * value
        elif atom in _LOCAL or (atom in LANE_IDS and atom in ranges):
            slopes.append((atom, slope))
        elif atom in ranges and ranges[atom][1] - ranges[atom][0] <= 1:
            base += slope * ranges[atom][0]
        else:
            return lambda ids: None  # a counter that nobody has bound
    if len(slopes) == 1:
        ((only, each),) = slopes
        return lambda ids: base + each * ids[only]
    return lambda ids: base + sum([slope * ids[atom] for atom, slope in slopes])


_LOCAL = frozenset(LOCAL_ID)
_LOGIC = frozenset({"lt0", "eq0", "not", "and", "or"})


def _single(kind: str, inner: ByLane) -> ByLane:
    function = EVALUATED[kind]

    def at(ids: dict[Atom, int]) -> Value | None:
        value = inner(ids)
        return None if value is None else function(value)

    return at


def _pair(kind: str, first: ByLane, second: ByLane) -> ByLane:
    """Both are asked, whatever the first one says: a part that nobody knows leaves the whole unknown."""
    is_and = kind == "and"

    def at(ids: dict[Atom, int]) -> Value | None:
        a, b = first(ids), second(ids)
        if a is None or b is None:
            return None
        return int(bool(a and b)) if is_and else int(bool(a or b))

    return at


def _undecided(setting: Setting, point: Point, ranges: Ranges, known: Knowledge) -> list[tuple[Expression, bool]]:
    """Conditions that hold for some lanes within `ranges` and not for others."""
    return [
        (condition, holds)
        for condition, holds, _ in setting.conditions
        if condition.leaves & LANE_IDS
        and condition.evaluable
        and not condition.has("load")
        and interval(condition, known, point, ranges) not in {(0, 0), (1, 1)}
    ]
