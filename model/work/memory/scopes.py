"""Launch, work-group, work-item: of all visits of a walk, those that one of them makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import prod

from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, NUM_GROUPS, Atom
from model.work.memory.strided import Touched
from model.work.walk.access_extents import Point, Ranges, Visit

_BY_DIMENSION = tuple(zip(GLOBAL_ID, LOCAL_ID, GROUP_ID, strict=True))
_IDS = frozenset({*GLOBAL_ID, *LOCAL_ID, *GROUP_ID})


class Scope(IntEnum):
    """Whose accesses are looked at together."""

    ITEM = 0
    GROUP = 1
    LAUNCH = 2


@dataclass(frozen=True, slots=True)
class Draws:
    """`number` independent choices of a place; at each, a piece of `bytes_each` bytes on `lines_each` cache lines."""

    number: float
    bytes_each: int
    lines_each: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The NDRange in numbers: local size and group count by dimension.

    `found` keeps what `typical` gave, and `seen` what `volume` and `touched` read of visits: accesses of one block are
    visited alike. `sets` keeps what `touched` gave, for accesses that differ in where they begin alone, and
    `draws` what `indirect_accesses` did.
    """

    local: tuple[int, int, int]
    groups: tuple[int, int, int]
    found: dict[tuple[Scope, int, int, int], list[Visit]] = field(default_factory=dict, compare=False, repr=False)
    seen: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict, compare=False, repr=False)
    sets: dict[tuple[object, ...], tuple[int, Touched | None]] = field(default_factory=dict, compare=False, repr=False)
    draws: dict[tuple[object, ...], Draws | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def group_items(self) -> int:
        return prod(self.local)


def shape_of(known: LaunchBindings) -> Shape:
    def numbers(atoms: Iterable[Atom]) -> tuple[int, int, int]:
        first, second, third = (max(1, int(known.symbols.get(a, 1))) for a in atoms)
        return first, second, third

    return Shape(numbers(LOCAL_SIZE), numbers(NUM_GROUPS))


def volume(ranges: Ranges, shape: Shape) -> float:
    """Return how many combinations of work-items and iterations `ranges` hold: ids of one dimension count once."""
    total = 1.0
    for whole, local, group in _BY_DIMENSION:
        apart = 1
        for atom in (local, group):
            if atom in ranges:
                low, high = ranges[atom]
                apart *= high - low
        low, high = ranges.get(whole, (0, apart))
        total *= min(high - low, apart)
    return total * prod([high - low for atom, (low, high) in ranges.items() if atom not in _IDS and is_counter(atom)])


def is_counter(atom: Atom) -> bool:
    return str(atom.arguments[0]).startswith("loop.")


def typical(visits: list[Visit], scope: Scope, shape: Shape) -> list[Visit]:
    """Return the visits of one work-group in the middle (or one work-item of it), with `ranges` cut to it.

    The first number is how often they are executed there.
    """
    if not visits:
        return []
    _, point, ranges = visits[0]
    key = (scope, len(visits), id(point), id(ranges))
    if key not in shape.found:
        shape.found[key] = list(_typical(visits, scope, shape))
    return shape.found[key]


def _typical(visits: list[Visit], scope: Scope, shape: Shape) -> Iterator[Visit]:
    bound = sorted(
        (visit for visit in visits if _distance(visit[1], (0, 0, 0), shape)),
        key=lambda v: _distance(v[1], (0, 0, 0), shape),
    )
    middle = bound[len(bound) // 2] if bound else max(visits, key=lambda v: volume(v[2], shape))
    group = tuple(_middle_group(d, middle[1], middle[2], shape) for d in range(3))
    nearest = min(_distance(p, group, shape) for _, p, _ in visits)
    for weight, point, ranges in visits:
        if _distance(point, group, shape) > nearest:
            continue
        each = weight / max(1.0, volume(ranges, shape))
        if any(atom in point for atom in GLOBAL_ID):
            each = min(1.0, each)  # the bound work-item stands for others, not for more of its own
        cut = _in_group(dict(point), dict(ranges), group, shape)
        if cut is not None:
            now, rest = cut if scope is Scope.GROUP else _one_item(*cut, shape)
            yield each * volume(rest, shape), now, rest


def executions(visits: list[Visit], scope: Scope, shape: Shape) -> float:
    """Return how often a typical work-item or work-group executes an access, or the launch does."""
    return sum(weight for weight, _, _ in (visits if scope is Scope.LAUNCH else typical(visits, scope, shape)))


def _middle_group(d: int, point: Point, ranges: Ranges, shape: Shape) -> int:
    if GLOBAL_ID[d] in point:
        return int(point[GLOBAL_ID[d]]) // shape.local[d]
    if GROUP_ID[d] in point:
        return int(point[GROUP_ID[d]])
    low, high = ranges.get(GLOBAL_ID[d], (0, 1))
    first, last = low // shape.local[d], max(low, high - 1) // shape.local[d]
    if GROUP_ID[d] in ranges:
        first, last = max(first, ranges[GROUP_ID[d]][0]), min(last, ranges[GROUP_ID[d]][1] - 1)
    return max(first, (first + last) // 2)


def _distance(point: Point, group: Sequence[int], shape: Shape) -> float:
    """Return how far a bound work-item is from the middle of the group; unbound ones are everywhere."""
    return sum(
        abs(point[GLOBAL_ID[d]] - (group[d] * shape.local[d] + shape.local[d] // 2))
        for d in range(3)
        if GLOBAL_ID[d] in point
    )


def _in_group(point: Point, ranges: Ranges, group: Sequence[int], shape: Shape) -> tuple[Point, Ranges] | None:
    """None where none of the group comes there."""
    for d in range(3):
        size = shape.local[d]
        at = int(point[GLOBAL_ID[d]]) // size if GLOBAL_ID[d] in point else group[d]
        start = at * size
        if GLOBAL_ID[d] in point:  # a sample stands for its neighbours
            for atom in (GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]):
                point.pop(atom, None)
            ranges[GLOBAL_ID[d]], ranges[LOCAL_ID[d]] = (start, start + size), (0, size)
        low, high = ranges.get(GLOBAL_ID[d], (start, start + size))
        low, high = max(low, start), min(high, start + size)
        lanes = ranges.get(LOCAL_ID[d], (0, size))
        if LOCAL_ID[d] in point:
            lanes = (int(point[LOCAL_ID[d]]), int(point[LOCAL_ID[d]]) + 1)
        low, high = max(low, start + lanes[0]), min(high, start + lanes[1])
        if low >= high:
            return None
        ranges.pop(GROUP_ID[d], None)
        point[GROUP_ID[d]] = at
        ranges[GLOBAL_ID[d]], ranges[LOCAL_ID[d]] = (low, high), (low - start, high - start)
    return point, ranges


def _one_item(point: Point, ranges: Ranges, shape: Shape) -> tuple[Point, Ranges]:
    for d in range(3):
        low, high = ranges.pop(GLOBAL_ID[d])
        ranges.pop(LOCAL_ID[d], None)
        point[GLOBAL_ID[d]] = (low + high - 1) // 2
        point[LOCAL_ID[d]] = point[GLOBAL_ID[d]] % shape.local[d]
    return point, ranges
