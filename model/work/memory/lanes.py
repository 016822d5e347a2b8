"""Lanes of a warp: where each of 32 neighbouring work-items stands in an access, and whether it takes part.

Work-items of a group are numbered with dimension 0 fastest, and every 32 in a row make a warp: "CUDA C++ Programming
Guide", thread hierarchy; AMD's wavefronts are made alike ("AMD OpenCL Optimization Guide").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from model.work.expressions.evaluate import evaluate
from model.work.expressions.intervals import interval, slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear import LinearReader, NotLinear
from model.work.expressions.linear_sums import Slopes
from model.work.expressions.numbers import EVALUATED, Value
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression
from model.work.memory.byte_footprints import related_ids
from model.work.memory.scopes import Scope, Shape, is_counter, typical
from model.work.regions.enclosing_scopes import Setting
from model.work.regions.region import Access
from model.work.walk.access_extents import Point, Ranges, Visit

WARP_LANES = 32
LINE_BYTES, SECTOR_BYTES = 128, 32  # of GPUs' caches
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
    access: Access,
    visits: list[Visit],
    setting: Setting,
    known: LaunchBindings,
    shape: Shape,
    lanes: int = WARP_LANES,
    *,
    rows_on_lines: bool = False,
) -> list[Warp]:
    """Typical warps that execute `access`; none where the data decide the place.

    With `rows_on_lines` as if the rows of an array were as many whole lines long as they have room for, and over all
    places on a line where groups begin: what a few warps ask for would else hang on whether a row is 1007 elements long
    or 1008, and on which group is in the middle.
    """
    if access.offset is None:
        return []
    found: list[Warp] = []
    group = _rejoined(typical(visits, Scope.GROUP, shape))
    for weight, point, ranges in _spread(group, MAX_VISITS):
        counters = [a for a in access.offset.leaves & ranges.keys() if is_counter(a)]
        for now, rest, part in _counted(counters, point, ranges):
            offsets = _offsets(access.offset, now, rest, setting, known, shape, lanes, rows_on_lines)
            if offsets:
                starts = _group_starts(access.offset, known, shape) if rows_on_lines else (0,)
                each = weight * part / len(starts)
                found += [Warp(tuple([offset + start for offset in offsets]), each) for start in starts]
    return found


def _group_starts(offset: Expression, known: LaunchBindings, shape: Shape) -> Sequence[int]:
    """Return where on a line groups begin, to the sector: two groups of 16 floats share one."""
    plain = slopes_of(offset, known)
    if plain is None:
        return (0,)
    _, slopes = _on_lines(plain)
    steps = [
        slope * (shape.local[d] if atom is GLOBAL_ID[d] else 1)
        for atom, slope in slopes
        for d in range(3)
        if atom in (GLOBAL_ID[d], GROUP_ID[d]) and shape.groups[d] > 1
    ]
    return range(0, LINE_BYTES, max(SECTOR_BYTES, math.gcd(LINE_BYTES, *steps)))


def _rejoined(group: Sequence[Visit]) -> list[Visit]:
    """Visits that a walk took apart by local ids, together again: the lanes of a warp come there at once."""
    found: dict[frozenset[tuple[Atom, Value]] | int, Visit] = {}
    for number, (weight, point, ranges) in enumerate(group):
        if point.keys().isdisjoint(LOCAL_ID):
            found[number] = weight, point, ranges
            continue
        rest = {atom: value for atom, value in point.items() if atom not in LANE_IDS}
        key = frozenset(rest.items())
        before, _, around = found.get(key, (0.0, rest, ranges))
        found[key] = before + weight, rest, _around(around, ranges)
    return list(found.values())


def _around(a: Ranges, b: Ranges) -> Ranges:
    return {atom: (min(a[atom][0], b[atom][0]), max(a[atom][1], b[atom][1])) for atom in a.keys() & b.keys()}


def _spread(group: Sequence[Visit], most: int) -> Sequence[Visit]:
    if len(group) <= most:
        return group
    return [group[(2 * j + 1) * len(group) // (2 * most)] for j in range(most)]


def _counted(counters: Sequence[Atom], point: Point, ranges: Ranges) -> Iterator[tuple[Point, Ranges, float]]:
    """Yield the first counter at a few of its values, the others in their middle."""
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
    offset: Expression,
    point: Point,
    ranges: Ranges,
    setting: Setting,
    known: LaunchBindings,
    shape: Shape,
    lanes: int,
    rows_on_lines: bool,
) -> tuple[int, ...]:
    """Of the first warp in the group that has an active lane."""
    plain = slopes_of(offset, known) if rows_on_lines else None
    at = by_lane(offset, point, ranges, known, shape) if plain is None else _along(*_on_lines(plain), point, ranges)
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
    """Return the first lane of each warp of a group, or of `most` of them."""
    starts = range(0, shape.group_items, lanes)
    return starts if len(starts) <= most else [starts[(2 * j + 1) * len(starts) // (2 * most)] for j in range(most)]


def lanes_of(start: int, lanes: int, ranges: Ranges, shape: Shape) -> list[dict[Atom, int]]:
    """Return the ids of so many lanes of the group at hand from `start` on; those outside `ranges` are not active."""
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
    """Return the local ids of lanes."""
    width, height, depth = local
    return [(lane % width, lane // width % height, lane // (width * height) % depth) for lane in range(start, end)]


ByLane = Callable[[dict[Atom, int]], Value | None]


def by_lane(expression: Expression, point: Point, ranges: Ranges, known: LaunchBindings, shape: Shape) -> ByLane:
    """`expression` as a function of a lane's ids: by its linear form where it has one, which is much faster."""
    atom = expression.atom
    parts = atom.operands if atom is not None else ()
    if atom is not None and atom.kind in _LOGIC and not isinstance(atom.arguments[0], str):
        inner = [by_lane(part, point, ranges, known, shape) for part in parts]
        return _pair(atom.kind, *inner) if len(inner) == 2 else _single(atom.kind, *inner)
    plain = slopes_of(expression, known)
    if plain is not None:
        return _along(plain.base, plain.slopes, point, ranges)
    reader = LinearReader(known, point, ranges, related_ids(expression, point, ranges, shape))
    try:
        index = reader.read(expression)
    except NotLinear:
        return _evaluated(expression, known, point)
    if not (reader.is_exact and reader.is_pointwise) or not all(atom in LANE_IDS for (atom, _), _ in index.slopes):
        return _evaluated(expression, known, point)
    base = index.base
    digits = [(a, reader.low(a), place, reader.count((a, place)), slope) for (a, place), slope in index.slopes]
    return lambda ids: base + sum(slope * ((ids[a] - low) // p % count) for a, low, p, count, slope in digits)


def _evaluated(expression: Expression, known: LaunchBindings, point: Point) -> ByLane:
    now = dict(point)  # lanes have the same ids, each in its turn

    def at(ids: dict[Atom, int]) -> Value | None:
        now.update(ids)
        return evaluate(expression, known, now)

    return at


def _on_lines(plain: Slopes) -> tuple[int, tuple[tuple[Atom, int], ...]]:
    """Return base and slopes with each step of a line or more, as from row to row, cut to whole lines."""
    base = plain.base
    cut = {abs(slope): abs(slope) % LINE_BYTES for _, slope in plain.slopes if abs(slope) >= LINE_BYTES}
    rest = base
    for step in sorted(cut, reverse=True):  # `(y - 1) * n + x - 1` begins a row and an element before
        rows = (rest + LINE_BYTES) // step
        rest -= rows * step
        base -= rows * cut[step]
    return base, tuple((atom, slope - _sign(slope) * cut.get(abs(slope), 0)) for atom, slope in plain.slopes)


def _sign(value: int) -> int:
    return 1 if value > 0 else -1


def _along(start: int, all_slopes: Sequence[tuple[Atom, int]], point: Point, ranges: Ranges) -> ByLane:
    base: Value = start
    slopes: list[tuple[Atom, int]] = []
    for atom, slope in all_slopes:
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


def _undecided(setting: Setting, point: Point, ranges: Ranges, known: LaunchBindings) -> list[tuple[Expression, bool]]:
    """Conditions that hold for some lanes within `ranges` and not for others."""
    return [
        (condition, holds)
        for condition, holds, _ in setting.conditions
        if condition.leaves & LANE_IDS
        and condition.evaluable
        and not condition.has("load")
        and interval(condition, known, point, ranges) not in {(0, 0), (1, 1)}
    ]
