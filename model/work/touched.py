"""Which bytes an access touches in a launch, a work-group or a work-item: the visits of a walk as strided sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod

from model.work.evaluate import Knowledge, evaluate
from model.work.linear import Linear, LinearReader, NotLinear
from model.work.numbers import Value
from model.work.region import Access
from model.work.strided import Strided, strided
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, NUM_GROUPS, Atom, Expression
from model.work.walk import MAX_KEPT, Point, Ranges, Visit

MAX_BOUND = 48  # values of an id or counter that are tried one by one where an index is not linear in it
MAX_BOUND_INSIDE = 4
MAX_DEPTH = 2
_NEARLY = 1e-9


class Scope(IntEnum):
    """Whose accesses are looked at together."""

    ITEM = 0
    GROUP = 1
    LAUNCH = 2


@dataclass(frozen=True, slots=True)
class Touched:
    """The sets of one access. `scale` is for how many times more of the same these stand, where values were sampled.

    `is_exact` where the sets are all that is touched and nothing else.
    """

    sets: tuple[Strided, ...]
    scale: float = 1.0
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """The NDRange in numbers: local size and group count by dimension."""

    local: tuple[int, int, int]
    groups: tuple[int, int, int]

    @property
    def group_items(self) -> int:
        return prod(self.local)


def shape_of(known: Knowledge) -> Shape:
    def numbers(atoms: Iterable[Atom]) -> tuple[int, int, int]:
        first, second, third = (max(1, int(known.symbols.get(a, 1))) for a in atoms)
        return first, second, third

    return Shape(numbers(LOCAL_SIZE), numbers(NUM_GROUPS))


def touched(access: Access, visits: list[Visit], scope: Scope, known: Knowledge, shape: Shape) -> Touched | None:
    """None where the data decide the place, or nobody knows it."""
    offset = access.offset
    if offset is None or access.is_image or not is_placed(offset, known):
        return None
    sets: list[Strided] = []
    is_exact = len(visits) < MAX_KEPT
    executed = 0.0
    seen = 0.0
    for weight, point, ranges in visits if scope is Scope.LAUNCH else typical(visits, scope, shape):
        try:
            for reader, index, part, is_whole in _bound(offset, point, ranges, known, shape):
                sets.append(_set(_joined(index, reader.ranges, shape), reader, access.element_bytes))
                is_exact = is_exact and reader.is_exact and is_whole
                executed += weight * part
                seen += volume(reader.ranges, shape)
        except NotLinear:
            return None
    is_sampled = scope is Scope.GROUP and any(atom in point for _, point, _ in visits for atom in GLOBAL_ID)
    is_full = abs(executed - seen) <= _NEARLY * executed
    return Touched(tuple(sets), max(1.0, executed / seen) if seen else 1.0, is_exact and is_full and not is_sampled)


def is_placed(offset: Expression, known: Knowledge) -> bool:
    """Whether the launch decides the place: nothing loaded (but what is known to be constant), nothing unknown."""
    for leaf in offset.leaves:
        if leaf.kind == "unknown" and leaf not in known.parameters:
            return False
        if leaf.kind == "load":
            contents = known.contents.get(str(leaf.arguments[0]))
            if contents is None or contents.fill is None or contents.fill.kind not in ("zeros", "const"):
                return False
    return True


def volume(ranges: Ranges, shape: Shape) -> float:
    """How many combinations of work-items and iterations `ranges` hold: ids of one dimension count once."""
    total = 1.0
    for d in range(3):
        spans = {a: ranges[a][1] - ranges[a][0] for a in (GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]) if a in ranges}
        apart = spans.get(LOCAL_ID[d], 1) * spans.get(GROUP_ID[d], 1)
        total *= min(spans.get(GLOBAL_ID[d], apart), apart)
    return total * prod(high - low for atom, (low, high) in ranges.items() if is_counter(atom))


def is_counter(atom: Atom) -> bool:
    return str(atom.arguments[0]).startswith("loop.")


# --- one work-group, one work-item -----------------------------------------------------------------------


def typical(visits: list[Visit], scope: Scope, shape: Shape) -> Iterator[Visit]:
    """The visits of one work-group in the middle (or one work-item of it), with `ranges` cut to it.

    The first number is how often they are executed there.
    """
    if not visits:
        return
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
    """How often a typical work-item or work-group executes an access, or the launch does."""
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
    """How far a bound work-item is from the middle of the group; unbound ones are everywhere."""
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


# --- sets of one visit -----------------------------------------------------------------------------------


def _bound(
    offset: Expression, point: Point, ranges: Ranges, known: Knowledge, shape: Shape, depth: int = 0
) -> Iterator[tuple[LinearReader, Linear, float, bool]]:
    """The index of a visit, taken apart by the values of what it is not linear in: (..., part, whether that is all).

    Raises NotLinear.
    """
    reader = LinearReader(known, point, ranges, related_ids(offset, point, ranges, shape))
    try:
        yield reader, reader.read(offset), 1.0, True
    except NotLinear as obstacle:
        atoms = sorted(obstacle.atoms & ranges.keys(), key=lambda a: (ranges[a][1] - ranges[a][0], a.serial))
        if not atoms or depth >= MAX_DEPTH:
            raise
        low, high = ranges[atoms[0]]
        values = min(high - low, MAX_BOUND if depth == 0 else MAX_BOUND_INSIDE)
        for j in range(values):
            now, rest = _with_value(atoms[0], low + (high - low) * j // values, point, ranges, shape)
            for inner, index, part, is_whole in _bound(offset, now, rest, known, shape, depth + 1):
                yield inner, index, part / values, is_whole and values == high - low


def _with_value(atom: Atom, value: int, point: Point, ranges: Ranges, shape: Shape) -> tuple[Point, Ranges]:
    now: Point = {**point, atom: value}
    rest = {a: r for a, r in ranges.items() if a is not atom}
    for d in range(3):
        if atom is GLOBAL_ID[d]:
            now[GROUP_ID[d]], now[LOCAL_ID[d]] = divmod(value, shape.local[d])
            rest.pop(GROUP_ID[d], None)
            rest.pop(LOCAL_ID[d], None)
        elif GROUP_ID[d] in now and LOCAL_ID[d] in now and GLOBAL_ID[d] not in now:
            now[GLOBAL_ID[d]] = now[GROUP_ID[d]] * shape.local[d] + now[LOCAL_ID[d]]
            rest.pop(GLOBAL_ID[d], None)
    return now, rest


def related_ids(offset: Expression, point: Mapping[Atom, Value], ranges: Ranges, shape: Shape) -> dict[Atom, Linear]:
    """A global id in terms of group and local id, where the index (or the walk) speaks of these, too."""
    related: dict[Atom, Linear] = {}
    for d in range(3):
        whole, local, group = GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]
        if whole not in offset.leaves or whole in point:
            continue
        if not ({local, group} & offset.leaves or {local, group} & point.keys()):
            continue
        index = Linear(0)
        for atom, slope in ((group, shape.local[d]), (local, 1)):
            if atom in point:
                index = index.plus(Linear(round(point[atom])), slope)
            else:
                low, high = ranges.get(atom, (0, 1))
                index = index.plus(Linear(low, (((atom, 1), 1),) if high - low > 1 else ()), slope)
        related[whole] = index
    return related


def _joined(index: Linear, ranges: Ranges, shape: Shape) -> Linear:
    """`group * local size + lane` is the global id: its range may be cut where the others' are not."""
    slopes = dict(index.slopes)
    base = index.base
    for d in range(3):
        group, local = (GROUP_ID[d], 1), (LOCAL_ID[d], 1)
        size, low_high = shape.local[d], ranges.get(GLOBAL_ID[d])
        each = slopes.get(local)
        whole = ranges.get(LOCAL_ID[d]) == (0, size) and ranges.get(GROUP_ID[d]) == (0, shape.groups[d])
        if each is None or low_high is None or not whole or slopes.get(group) != each * size:
            continue
        del slopes[group], slopes[local]
        base += low_high[0] * each
        slopes[GLOBAL_ID[d], 1] = each
    return Linear(base, tuple(slopes.items()))


def _set(index: Linear, reader: LinearReader, width: int) -> Strided:
    return strided(index.base, [(slope, reader.count(digit)) for digit, slope in index.slopes], max(1, width))


def number_at(expression: Expression, known: Knowledge, point: Point, ranges: Ranges) -> Value | None:
    """The value with everything that is not bound in the middle of its range."""
    middle = {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
    return evaluate(expression, known, {**middle, **point})
