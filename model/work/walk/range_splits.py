"""Ranges of ids and counters, split where a condition, a count or a share changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from model.work.expressions.evaluate import evaluate
from model.work.expressions.intervals import interval, slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression
from model.work.walk.access_extents import Point, Ranges


def cut(
    inner: Expression, kind: str, unbound: list[Atom], known: LaunchBindings, point: Point, ranges: Ranges
) -> list[tuple[float, Ranges, bool]] | None:
    """(share of the work-items, their ranges, whether it holds for them) for `inner < 0` (`kind` lt0) or `== 0` (eq0).

    None where more than one of the ids and counters in it is still a range, or it is no line in that one.
    """
    bounds = interval(inner, known, point, ranges)
    if bounds is not None:
        if (kind == "lt0" and bounds[1] < 0) or (kind == "eq0" and bounds == (0, 0)):
            return [(1.0, ranges, True)]
        if (kind == "lt0" and bounds[0] >= 0) or (kind == "eq0" and (bounds[0] > 0 or bounds[1] < 0)):
            return [(1.0, ranges, False)]
    if len(unbound) != 1:
        return None
    x = unbound[0]
    slope: Value | None
    plain = slopes_of(inner, known)
    if plain is not None:
        slope, start = plain.slope(x), plain.at(point, x)
        return _edges(kind, slope, start, x, ranges) if slope and start is not None else None
    slope_expression = inner.coefficient(x)
    slope = evaluate(slope_expression, known, point) if slope_expression is not None else None
    start = evaluate(inner, known, {**point, x: 0})
    return _edges(kind, slope, start, x, ranges) if slope and start is not None else None


def _edges(kind: str, slope: Value, start: Value, x: Atom, ranges: Ranges) -> list[tuple[float, Ranges, bool]]:
    """Return the parts of the range of `x` in which `start` + `slope` x `x` is below 0 (or is 0)."""
    low, high = ranges[x]
    length = high - low
    if kind == "eq0":
        at = -start / slope
        if at != int(at) or not low <= at < high:
            return [(1.0, ranges, False)]
        here = int(at)
        pieces = [(low, here, False), (here, here + 1, True), (here + 1, high, False)]
        return [((b - a) / length, {**ranges, x: (a, b)}, taken) for a, b, taken in pieces if b > a]
    if slope > 0:  # holds below
        edge = min(high, max(low, math.ceil(-start / slope)))
        pieces = [(low, edge, True), (edge, high, False)]
    else:  # holds above
        edge = min(high, max(low, math.floor(-start / slope) + 1))
        pieces = [(low, edge, False), (edge, high, True)]
    return [((b - a) / length, {**ranges, x: (a, b)}, taken) for a, b, taken in pieces if b > a]


class Part(NamedTuple):
    """A `share` (0 to 1) of those that come; `is_sure` where the launch decides whether they enter, `taken`."""

    share: float
    point: Point
    ranges: Ranges
    taken: bool
    is_sure: bool


def with_share(parts: Sequence[Part], share: float, point: Point, ranges: Ranges) -> list[Part]:
    """Return the same parts, of which so many are taken in all."""
    return [
        part
        for taken, whole in ((True, share), (False, 1 - share))
        for part in _scaled([p for p in parts if p.taken is taken], whole, point, ranges, taken=taken)
    ]


def with_undecided_share(parts: Sequence[Part], share: float, point: Point, ranges: Ranges) -> list[Part]:
    """Return the same parts, of which so many are taken among those that the launch does not decide."""
    sure = [p for p in parts if p.is_sure]
    unsure = [p for p in parts if not p.is_sure]
    whole = sum(p.share for p in unsure)
    scaled = with_share(unsure, share, *_where(unsure, point, ranges))
    return [*sure, *(p._replace(share=p.share * whole) for p in scaled)]


def _where(parts: Sequence[Part], point: Point, ranges: Ranges) -> tuple[Point, Ranges]:
    return (parts[0].point, parts[0].ranges) if parts else (point, ranges)


def _scaled(parts: Sequence[Part], whole: float, point: Point, ranges: Ranges, *, taken: bool) -> list[Part]:
    now = sum(p.share for p in parts)
    if now <= 0:
        return [Part(whole, point, ranges, taken, is_sure=False)] if whole > 0 else []
    return [p._replace(share=p.share * whole / now) for p in parts]


MAX_STAIRS = 4
MAX_TRIED = 16  # ids that are tried one by one
_LOOKS = 8


def stairs(at: Callable[[int], Value | None], low: int, high: int) -> list[tuple[int, int, Value]] | None:
    """(from, to, value) for the runs of equal values of `at` in [low, high), where those are few.

    None where there are many, where the function rises and falls, or where nobody knows a value.
    """
    looks = max(_LOOKS, high - 1 - low if high - low <= MAX_TRIED else 0)
    marks = sorted({low + (high - 1 - low) * j // looks for j in range(looks + 1)})
    values: list[Value] = []
    for mark in marks:
        value = at(mark)
        if value is None:
            return None
        values.append(value)
    rises = [b - a for a, b in pairwise(values)]
    if len(set(values)) > MAX_STAIRS or min(rises, default=0) < 0 < max(rises, default=0):
        return None
    starts: list[tuple[int, Value]] = [(low, values[0])]
    for (left, before), (right, after) in pairwise(zip(marks, values, strict=True)):
        edge, value = left, before
        while value != after:
            edge, there = _edge(at, edge, right, value)
            if there is None or len(starts) > MAX_STAIRS:
                return None
            value = there
            starts.append((edge, value))
    ends = [start for start, _ in starts[1:]] + [high]
    return [(start, end, value) for (start, value), end in zip(starts, ends, strict=True)]


def _edge(at: Callable[[int], Value | None], left: int, right: int, value: Value) -> tuple[int, Value | None]:
    """Return the first place after `left` where `at` is no longer `value`, and what it is there."""
    while right - left > 1:
        middle = (left + right) // 2
        left, right = (middle, right) if at(middle) == value else (left, middle)
    return right, at(right)
