"""Functions of one id that have few values, each over a run of ids: where their steps are, by bisection."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from model.work.numbers import Value

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
