"""A guard such as `i < n` cuts the range of an id or a counter exactly."""

from __future__ import annotations

import math

from model.work.evaluate import evaluate
from model.work.intervals import interval
from model.work.knowledge import Knowledge
from model.work.numbers import Value
from model.work.reached import Point, Ranges
from model.work.slopes import slopes_of
from model.work.symbolic import Atom, Expression


def cut(
    inner: Expression, kind: str, unbound: list[Atom], known: Knowledge, point: Point, ranges: Ranges
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
