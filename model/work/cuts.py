"""Work-items of a visit with their local and group ids free of each other: a guard on the global id cuts the last
group short."""

from __future__ import annotations

from collections.abc import Iterator

from model.work.reached import Point, Ranges
from model.work.scopes import Shape
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression


def parted(offset: Expression, point: Point, ranges: Ranges, shape: Shape) -> Iterator[tuple[Ranges, bool]]:
    """Parts of the ranges in which local and group ids are free of each other, and whether they are all there is."""
    parts: list[tuple[Ranges, bool]] = [(ranges, True)]
    for d in range(3):
        whole, local, group = GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]
        if whole not in ranges or not {local, group} & (offset.leaves | cut_ids(d, ranges, shape)):
            continue
        if local not in ranges or group not in ranges:
            start = point[group] * shape.local[d] if group in point else None
            low, high = ranges.get(local, (point.get(local, 0), point.get(local, 0) + 1))
            fits = start is not None and ranges[whole] == (start + low, start + high)
            parts = [(r, exact and (fits or is_all(whole, d, ranges, shape))) for r, exact in parts]
        elif not is_all(whole, d, ranges, shape):
            parts = [({**r, **cut}, exact) for r, exact in parts for cut in _pieces(d, r, shape)]
    yield from parts


def cut_ids(d: int, ranges: Ranges, shape: Shape) -> set[Atom]:
    sizes = ((LOCAL_ID[d], shape.local[d]), (GROUP_ID[d], shape.groups[d]))
    return {atom for atom, size in sizes if atom in ranges and ranges[atom] != (0, size)}


def is_all(atom: Atom, d: int, ranges: Ranges, shape: Shape) -> bool:
    return ranges[atom] == (0, shape.local[d] * shape.groups[d])


def _pieces(d: int, ranges: Ranges, shape: Shape) -> Iterator[Ranges]:
    """Yield the end of the first group, whole groups, and the beginning of the last one."""
    size = shape.local[d]
    low, high = ranges[GLOBAL_ID[d]]
    lanes, groups = ranges[LOCAL_ID[d]], ranges[GROUP_ID[d]]
    first, last = -(-low // size), high // size
    found = [(first, last, 0, size)] if first <= last else []
    if low % size:
        found.append((first - 1, first, low % size, size if first <= last else high % size))
    if high % size and first <= last:
        found.append((last, last + 1, 0, high % size))
    for start, end, lane, past in found:
        inside = (max(start, groups[0]), min(end, groups[1]))
        at = (max(lane, lanes[0]), min(past, lanes[1]))
        if inside[0] < inside[1] and at[0] < at[1]:
            whole = (inside[0] * size + at[0], (inside[1] - 1) * size + at[1])
            yield {GROUP_ID[d]: inside, LOCAL_ID[d]: at, GLOBAL_ID[d]: whole}
