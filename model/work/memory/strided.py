"""Sets of whole numbers that loop nests touch, and how many there are in a union of them, without enumerating.

A set is `start + s1*i + s2*j + ... + [0, width)` for i, j ... from 0: the addresses of one affine access. A union is
counted row by row: the longest stride of all cuts the numbers into windows, and windows that the same sets reach at
the same places are counted once. That is exact wherever it ends within its budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import NamedTuple

MAX_PIECES = 400  # sets under consideration at once, after cutting
MAX_COUNTED = 2_000  # numbers, or runs of them, listed one by one where there is no better way
MAX_DEPTH = 12


class Strided(NamedTuple):
    """`strides` are (stride, count) pairs, ascending and positive; never empty in themselves."""

    start: int
    strides: tuple[tuple[int, int], ...]
    width: int

    @property
    def span(self) -> int:
        """From the first number to past the last one."""
        return self.width + sum(stride * (count - 1) for stride, count in self.strides)

    @property
    def end(self) -> int:
        return self.start + self.span

    @property
    def size_at_most(self) -> int:
        total = self.width
        for _, count in self.strides:
            total *= count
        return min(total, self.span)


@dataclass(frozen=True, slots=True)
class Touched:
    """The sets of one access. `scale` is for how many times more of the same these stand, where values were sampled.

    `is_exact` where the sets are all that is touched and nothing else.
    """

    sets: tuple[Strided, ...]
    scale: float = 1.0
    is_exact: bool = True


def strided(start: int, strides: Iterable[tuple[int, int]], width: int, gap: int = 0) -> Strided:
    """Return the set in its simplest form: strides upwards, runs that touch (or leave fewer than `gap` out) merged."""
    kept: list[tuple[int, int]] = []
    for stride, count in strides:
        if stride and count > 1:
            start += min(0, stride * (count - 1))
            kept.append((abs(stride), count))
    kept.sort()
    merged: list[tuple[int, int]] = []
    for stride, count in kept:
        if not merged and stride - width <= max(0, gap - 1):
            width += stride * (count - 1)
        elif merged and stride % merged[-1][0] == 0 and stride <= merged[-1][0] * merged[-1][1]:
            inner, times = merged[-1]
            merged[-1] = (inner, times + stride // inner * (count - 1))
        else:
            merged.append((stride, count))
    return Strided(start, tuple(merged), width)


@dataclass(frozen=True, slots=True)
class Size:
    """How many distinct numbers; where not exact, not fewer than there are."""

    count: int
    is_exact: bool


def union_size(sets: Sequence[Strided]) -> Size:
    """Return how many distinct numbers are in any of `sets`."""
    if not sets:
        return Size(0, is_exact=True)
    if len(sets) == 1 and _is_plain(sets[0]):
        return Size(sets[0].size_at_most, is_exact=True)
    origin = min(s.start for s in sets)
    return _union_size(tuple(dict.fromkeys(Strided(s.start - origin, s.strides, s.width) for s in sets)))


@lru_cache(4096)
def _union_size(distinct: tuple[Strided, ...]) -> Size:
    """Wherever they begin: elements of a struct, rows of a matrix and launches of a kernel ask for the same again."""
    counted = _union(distinct, {}, 0)
    if counted is not None:
        return Size(counted, is_exact=True)
    span = max(s.end for s in distinct) - min(s.start for s in distinct)
    return Size(min(sum(_size_at_most(s) for s in distinct), span), is_exact=False)


def blocks(sets: Iterable[Strided], block: int) -> list[Strided]:
    """Return the blocks of `block` numbers (cache lines) that each set touches, as sets of block numbers.

    A stride that is no multiple of the block meets blocks at places that repeat: one set for each place.
    """
    return [part for s in sets for part in _in_blocks(s, block)]


def rows_on_blocks(sets: Sequence[Strided], block: int) -> list[Strided]:
    """Return the sets as they stood if each stride of a block or more, as from row to row, were of whole blocks.

    How many blocks they touch then does not hang on where rows of any length happen to begin.
    """
    longer: dict[int, int] = {}
    below = 0
    for stride in sorted({stride for s in sets for stride, _ in s.strides if stride >= block}):
        padded = stride // below * longer[below] + stride % below if below else stride
        longer[stride] = -(-padded // block) * block
        below = stride
    if all(stride == padded for stride, padded in longer.items()):
        return list(sets)
    return [
        Strided(_start_on_blocks(s.start, longer, block), tuple((longer.get(t, t), n) for t, n in s.strides), s.width)
        for s in sets
    ]


def _start_on_blocks(start: int, longer: Mapping[int, int], block: int) -> int:
    rest, moved = start, 0
    for stride in reversed(longer):
        rows = (rest + block) // stride  # a neighbour to the left of a row's first is of that row
        rest -= rows * stride
        moved += rows * longer[stride]
    return moved + rest


def _in_blocks(one: Strided, block: int) -> list[Strided]:
    whole = strided(one.start, one.strides, one.width, gap=block)
    parts: list[tuple[int, list[tuple[int, int]]]] = [(whole.start, [])]
    for stride, count in whole.strides:
        period = block // gcd(stride, block)
        if len(parts) * min(period, count) > MAX_PIECES // 4:
            parts = [(start, [*kept, (-(-stride // block) * block, count)]) for start, kept in parts]
            continue
        parts = [
            (start + j * stride, [*kept, (stride * period, -(-(count - j) // period))])
            for start, kept in parts
            for j in range(min(period, count))
        ]
    return [
        strided(start // block, [(s // block, c) for s, c in kept], -(-(start % block + whole.width) // block))
        for start, kept in parts
    ]


def _size_at_most(one: Strided) -> int:
    """Two strides meet where one is a multiple of the other's steps; beyond that, all are taken for distinct."""
    if len(one.strides) == 2:
        (a, m), (b, n) = one.strides
        g = gcd(a, b)
        pairs = m * n - max(0, m - b // g) * max(0, n - a // g)
        return min(pairs * one.width, one.span)
    return one.size_at_most


# --- unions ----------------------------------------------------------------------------------------------

_Known = dict[frozenset[Strided], int | None]


def _union(sets: tuple[Strided, ...], known: _Known, depth: int) -> int | None:
    """Return the size of the union; None where the budget does not reach."""
    if len(sets) == 1 and _is_plain(sets[0]):
        return sets[0].size_at_most
    if not any(s.strides for s in sets):
        return _intervals((s.start, s.end) for s in sets)
    if depth > MAX_DEPTH:
        return None
    key = frozenset(sets)
    if key not in known:
        by_rows = _rows(sets, known, depth)
        known[key] = by_rows if by_rows is not None else _listed(sets)
    return known[key]


def _is_plain(one: Strided) -> bool:
    """Return whether its runs never meet: each stride clears all that is inside."""
    span = one.width
    for stride, count in one.strides:
        if stride < span:
            return False
        span += stride * (count - 1)
    return True


def _intervals(ranges: Iterable[tuple[int, int]]) -> int:
    total, reached = 0, None
    for low, high in sorted(ranges):
        if reached is None or low > reached:
            total, reached = total + high - low, high
        elif high > reached:
            total, reached = total + high - reached, high
    return total


def _listed(sets: Sequence[Strided]) -> int | None:
    """Run by run."""
    runs = 0
    for one in sets:
        product = 1
        for _, count in one.strides:
            product *= count
        runs += product
    if runs > MAX_COUNTED:
        return None
    ranges: list[tuple[int, int]] = []
    for one in sets:
        starts = [one.start]
        for stride, count in one.strides:
            starts = [start + stride * i for start in starts for i in range(count)]
        ranges += [(start, start + one.width) for start in starts]
    return _intervals(ranges)


def _rows(sets: Sequence[Strided], known: _Known, depth: int) -> int | None:
    """Cut at multiples of the longest stride, and count each kind of window once."""
    stride = max(s.strides[-1][0] for s in sets if s.strides)
    inner = [_without(s, stride) for s in sets]
    origin = _origin([rest for rest, _ in inner], stride)
    pieces: list[tuple[int, int, Strided]] = []  # first row, rows, what it is within the row
    for rest, count in inner:
        cut = _cut(rest, stride, origin, MAX_PIECES - len(pieces))
        if cut is None:
            return None
        pieces += [(first, rows + count - 1, part) for first, rows, part in cut]
        if len(pieces) > MAX_PIECES:
            return None
    marks = sorted({mark for first, rows, _ in pieces for mark in (first, first + rows)})
    total = 0
    for low, high in pairwise(marks):
        active = tuple(dict.fromkeys(part for first, rows, part in pieces if first <= low < first + rows))
        if active:
            each = _union(active, known, depth + 1)
            if each is None:
                return None
            total += each * (high - low)
    return total


def _without(one: Strided, stride: int) -> tuple[Strided, int]:
    if one.strides and one.strides[-1][0] == stride:
        return Strided(one.start, one.strides[:-1], one.width), one.strides[-1][1]
    return one, 1


def _origin(rests: Sequence[Strided], stride: int) -> int:
    """Where windows begin, so that few sets are cut: at the start of one of them."""
    candidates = list(dict.fromkeys(rest.start % stride for rest in rests))[:8]
    return min(candidates, key=lambda o: sum((r.start - o) // stride != (r.end - 1 - o) // stride for r in rests))


def _cut(one: Strided, stride: int, origin: int, budget: int) -> list[tuple[int, int, Strided]] | None:
    """(first window, how many in a row, the part relative to its window) for the windows that `one` reaches."""
    first, last = (one.start - origin) // stride, (one.end - 1 - origin) // stride
    offset = one.start - origin - first * stride
    if first == last:
        return [(first, 1, Strided(offset, one.strides, one.width))]
    if not one.strides:
        return _cut_run(first, last, offset, one.end - origin - last * stride, stride)
    inner, count = one.strides[-1]
    body = Strided(one.start, one.strides[:-1], one.width)
    if count > 2 * budget and stride % inner:
        return None
    found: list[tuple[int, int, Strided]] = []
    at = 0
    per_window = stride // inner if stride % inner == 0 else 0
    while at < count:
        if len(found) > budget:
            return None
        start = one.start + inner * at
        window = (start - origin) // stride
        room = origin + (window + 1) * stride - start  # up to the end of the window
        whole = min(count - at, (room - body.span) // inner + 1) if room >= body.span else 0
        if whole > 0:
            part = strided(start - origin - window * stride, [*body.strides, (inner, whole)], body.width)
            windows = 1
            if per_window and whole == per_window:
                # The same again in the windows that follow, as long as they are full.
                windows = (count - at) // per_window
            found.append((window, windows, part))
            at += whole * windows if windows > 1 else whole
            continue
        parts = _cut(Strided(start, body.strides, body.width), stride, origin, budget - len(found))
        if parts is None:
            return None
        if per_window:
            # Every window has one that hangs over its edge: all of them at once, and what lies between them.
            return _cut_periodic(one, stride, origin, budget)
        found += parts
        at += 1
    return found


def _cut_run(first: int, last: int, offset: int, rest: int, stride: int) -> list[tuple[int, int, Strided]]:
    """Return a run over several windows: the end of the first, whole ones, the start of the last."""
    found = [(first, 1, Strided(offset, (), stride - offset)), (last, 1, Strided(0, (), rest))]
    if last - first > 1:
        found.append((first + 1, last - first - 1, Strided(0, (), stride)))
    return found


def _cut_periodic(one: Strided, stride: int, origin: int, budget: int) -> list[tuple[int, int, Strided]] | None:
    """As `_cut`, where `stride` is a multiple of the inner one: elements that stand alike, window after window."""
    inner, count = one.strides[-1]
    per_window = stride // inner
    if per_window > budget:
        return None
    found: list[tuple[int, int, Strided]] = []
    for j in range(min(per_window, count)):
        rows = -(-(count - j) // per_window)
        parts = _cut(Strided(one.start + j * inner, one.strides[:-1], one.width), stride, origin, budget - len(found))
        if parts is None:
            return None
        found += [(window, windows + rows - 1, part) for window, windows, part in parts]
    return found
