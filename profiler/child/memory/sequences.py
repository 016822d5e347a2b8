"""Contents whose order means something: ascending, near each other, pointing to rows; and numbers of a skewed kind.

All is drawn for the first `PERIOD` elements and goes on with the same steps from there: that is fast, whatever the
length, and no kernel can tell. Blocks are small, so that what is worked on stays in a cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model.launch.fill import SKEWED_FLOATS_BASE
from model.launch.launch import Number

Array = npt.NDArray[Any]
PERIOD = 1 << 20
_BLOCK = 1 << 15
_ROUNDING = 1e-6  # so much shorter are steps, lest sums of many of them end beyond a whole one
_WIDEST = 2.0**63 - 1024.0  # what 64 bits hold as a distance


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers of one type from `low` on, below `low + width`."""

    dtype: np.dtype[Any]
    low: Number
    width: float  # of integers: how many there are

    @classmethod
    def between(cls, low: Number, high: Number, dtype: np.dtype[Any]) -> Span:
        """Of [low, high) what the type holds, and at least one number of it."""
        if dtype.kind == "f":
            greatest = float(np.finfo(dtype).max)
            low, high = (min(max(float(end), -greatest), greatest) for end in (low, high))
            return cls(dtype, low, max(0.0, high - low))
        limits = np.iinfo(dtype)
        first = min(max(math.ceil(low), int(limits.min)), int(limits.max))
        beyond = min(math.ceil(high), int(limits.max) + 1)
        return cls(dtype, first, min(float(max(1, beyond - first)), _WIDEST))

    @property
    def is_whole(self) -> bool:
        return self.dtype.kind != "f"

    def at(self, distances: Array) -> Array:
        """The numbers so far beyond `low`; distances are at least 0, and those beyond the end become the last one."""
        if self.is_whole:
            whole = np.minimum(distances, np.nextafter(self.width, 0.0)).astype(np.int64)
            return whole + np.uint64(self.low % 2**64).astype(np.int64)  # wraps as the type does
        low, high = self.dtype.type(self.low), self.dtype.type(self.low + self.width)
        last = max(low, np.nextafter(high, self.dtype.type(-np.inf)))
        numbers: Array = np.clip((distances + self.low).astype(self.dtype), low, last)
        return numbers


def write_sorted(values: Array, span: Span, rng: np.random.Generator) -> None:
    """Ascending: one number from each of as many equal parts of the span as there are elements."""
    within = np.arange(min(len(values), PERIOD)) + rng.random(min(len(values), PERIOD))
    scale = span.width / max(1, len(values))
    for begin, end in _blocks(len(values)):
        at = begin % PERIOD
        values[begin:end] = span.at((within[at : at + end - begin] + (begin - at)) * scale)


def write_clustered(values: Array, span: Span, run: Number, rng: np.random.Generator) -> None:
    """A random walk with steps up to `run`, reflected at both ends, that drifts through the whole span if it can."""
    longest = (math.floor(run) if span.is_whole else float(run)) * (1 - _ROUNDING)
    drift = min(span.width / max(1, len(values)), longest / 2)
    start = rng.random() * max(0.0, span.width - drift * len(values))
    steps = rng.uniform(2 * drift - longest, longest, min(len(values), PERIOD))
    for begin, end, walked in _running_totals(len(values), steps):
        values[begin:end] = span.at(_reflected(walked + start, span.width))


def _reflected(walked: Array, width: float) -> Array:
    """Where a walk is that turns back at 0 and at `width`."""
    if width and (walked.min() < 0 or walked.max() > width):
        walked -= 2 * width * np.rint(walked / (2 * width))
    return np.abs(walked, out=walked)


def write_row_pointers(values: Array, nonzeros: int, skew: float | None, rng: np.random.Generator) -> None:
    """Ascending from 0 to `nonzeros`: rows of random lengths, or with a power law of exponent `skew` between them."""
    if not len(values):
        return
    drawn = min(max(1, len(values) - 1), PERIOD)
    lengths: Array = rng.standard_exponential(drawn)  # as between points that were thrown at random
    if skew is not None:
        lengths = (1.0 + rng.permutation(drawn)) ** -float(skew)
    rounds, rest = divmod(len(values) - 1, len(lengths))
    total = rounds * float(lengths.sum()) + float(lengths[:rest].sum())
    scale, least = nonzeros / total if total else 0.0, 0
    for begin, end, before in _running_totals(len(values), lengths):
        pointers = np.clip((before * scale).astype(np.int64), least, nonzeros)
        values[begin:end] = pointers
        least = int(pointers[-1])
    if len(values) > 1:
        values[-1] = np.int64(nonzeros)


def skewed(shape: tuple[int, ...], span: Span, rng: np.random.Generator) -> Array:
    """Numbers by Zipf's law: of integers, the k-th is as frequent as 1 / k."""
    base = span.width + 1.0 if span.is_whole else SKEWED_FLOATS_BASE
    return span.at((base ** rng.random(shape) - 1.0) * (span.width / (base - 1.0)))


def _running_totals(count: int, each: Array) -> Iterator[tuple[int, int, Array]]:
    """For blocks of `count` elements, what the steps before each of them add up to; steps repeat."""
    totals = np.concatenate(([0.0], np.cumsum(each)))
    for begin, end in _blocks(count, len(each)):
        rounds, at = divmod(begin, len(each))
        yield begin, end, totals[at : at + end - begin] + rounds * totals[-1]


def _blocks(count: int, period: int = PERIOD) -> Iterator[tuple[int, int]]:
    """Pieces of 0 .. count that no end of a period lies within."""
    begin = 0
    while begin < count:
        end = min(begin + _BLOCK, count, (begin // period + 1) * period)
        yield begin, end
        begin = end
