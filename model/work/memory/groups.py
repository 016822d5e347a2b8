"""Work-groups to look at when not all of them can be: at the edges, where conditions change, a few of the others.

Each comes with how many groups it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from model.work.expressions.intervals import interval
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear import LinearReader, NotLinear, Ranges
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression
from model.work.memory.byte_footprints import related_ids
from model.work.memory.scopes import Shape
from model.work.walk.access_extents import Point

ALL_GROUPS = 8  # so few along a dimension are all looked at
MAX_LANES = 40_000  # looked at for one condition, but for so many groups:
LEAST_GROUPS = 16
INSIDE = 3  # of those between groups that are looked at for themselves


@dataclass(frozen=True, slots=True)
class Group:
    """One work-group, standing for `weight` of them; its ids as `point` and `ranges`."""

    weight: float
    point: Point
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Groups:
    """`is_exact` where each group stands for others only that meet the conditions in just the same way."""

    groups: tuple[Group, ...]
    is_exact: bool


def groups_for(
    conditions: Iterable[Expression], point: Point, known: LaunchBindings, shape: Shape, items: tuple[int, int, int]
) -> Groups:
    """Return groups that together show how `conditions` hold over the launch; `items` is its global size."""
    leaves: frozenset[Atom] = frozenset().union(*(c.leaves for c in conditions))
    is_exact = True
    choices: list[list[tuple[int, float]]] = []
    for d in range(3):
        count = shape.groups[d]
        ragged = items[d] % shape.local[d] != 0
        if not {GLOBAL_ID[d], GROUP_ID[d]} & leaves and not ragged:
            choices.append([(count // 2, float(count))])
        elif count <= ALL_GROUPS:
            choices.append([(g, 1.0) for g in range(count)])
        else:
            edges = _edges(conditions, d, point, known, shape, items)
            is_exact = is_exact and edges is not None
            inside = INSIDE if edges is None else 1
            choices.append(_weighted({0, count - 1, *(edges or ())}, count, inside))
    groups = list(_groups(choices, shape, items))
    most = max(LEAST_GROUPS, MAX_LANES // shape.group_items)
    if len(groups) > most:
        stood_for = sum(g.weight for g in groups)
        groups = [groups[(2 * j + 1) * len(groups) // (2 * most)] for j in range(most)]
        scale = stood_for / sum(g.weight for g in groups)
        return Groups(tuple(Group(g.weight * scale, g.point, g.ranges) for g in groups), is_exact=False)
    return Groups(tuple(groups), is_exact)


def _weighted(special: set[int], count: int, most: int) -> list[tuple[int, float]]:
    """Return special groups for themselves, and some in between for all others."""
    kept = sorted(g for g in special if 0 <= g < count)
    found = [(g, 1.0) for g in kept]
    for low, high in zip([-1, *kept], [*kept, count], strict=True):
        between = high - low - 1
        inside = min(between, most)
        found += [(low + 1 + (2 * j + 1) * between // (2 * inside), between / inside) for j in range(inside)]
    return found


def _groups(choices: list[list[tuple[int, float]]], shape: Shape, items: tuple[int, int, int]) -> Iterator[Group]:
    for chosen in product(*choices):
        weight = 1.0
        point: Point = {}
        ranges: Ranges = {}
        for d, (group, part) in enumerate(chosen):
            weight *= part
            start = group * shape.local[d]
            end = min(start + shape.local[d], items[d])
            point[GROUP_ID[d]] = group
            ranges[GLOBAL_ID[d]], ranges[LOCAL_ID[d]] = (start, end), (0, end - start)
        yield Group(weight, point, ranges)


def _edges(
    conditions: Iterable[Expression],
    d: int,
    point: Point,
    known: LaunchBindings,
    shape: Shape,
    items: tuple[int, int, int],
) -> set[int] | None:
    """Return groups of dimension `d` where a comparison changes sides; None where that depends on more than one id."""
    found: set[int] = set()
    for inner in (e for c in conditions for e in _compared(c)):
        if not inner.leaves & {GLOBAL_ID[d], GROUP_ID[d]}:
            continue
        ranges: Ranges = {}
        for e in range(3):
            ranges[GLOBAL_ID[e]] = (0, items[e])
            ranges[LOCAL_ID[e]], ranges[GROUP_ID[e]] = (0, shape.local[e]), (0, shape.groups[e])
        try:
            index = LinearReader(known, point, ranges, related_ids(inner, point, ranges, shape)).read(inner)
        except NotLinear:
            return None
        if len(index.slopes) != 1:
            return None
        ((atom, place), slope), *_ = index.slopes
        at = -index.base / slope * place
        size = shape.local[d] if atom is GLOBAL_ID[d] else 1
        found |= {int((at + shift) // size) for shift in (-1, 0, 1)}
    return found


def _compared(condition: Expression) -> Iterator[Expression]:
    """Yield what is compared with 0 in a condition; the whole, where it is no comparison."""
    atom = condition.atom
    if atom is None:
        yield condition
        return
    inner = atom.operands
    if atom.kind in ("and", "or", "not"):
        for part in inner:
            yield from _compared(part)
    else:
        yield inner[0] if atom.kind in ("lt0", "eq0") else condition


def undecided(condition: Expression, group: Group, known: LaunchBindings) -> Expression | bool:
    """Return whether `condition` holds for a whole group.

    Where it does not say, the part of it that lanes differ in.
    """
    atom = condition.atom
    inner = atom.operands if atom is not None else ()
    if atom is None or atom.kind not in ("and", "or", "not", "lt0", "eq0"):
        bounds = interval(condition, known, group.point, group.ranges)
        return bool(bounds[0]) if bounds is not None and bounds[0] == bounds[1] else condition
    if atom.kind in ("lt0", "eq0"):
        bounds = interval(inner[0], known, group.point, group.ranges)
        if bounds is None:
            return condition
        low, high = bounds
        if atom.kind == "lt0":
            return True if high < 0 else False if low >= 0 else condition
        return True if low == high == 0 else False if low > 0 or high < 0 else condition
    parts = [undecided(part, group, known) for part in inner]
    if atom.kind == "not":
        return not parts[0] if isinstance(parts[0], bool) else condition
    settles = atom.kind == "or"
    if any(part is settles for part in parts):
        return settles
    open_parts = [part for part in parts if not isinstance(part, bool)]
    return condition if len(open_parts) == 2 else open_parts[0] if open_parts else not settles
