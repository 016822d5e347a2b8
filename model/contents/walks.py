"""Numbers that are sums of steps: random walks and the row pointers of sparse matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from model.contents.pointwise import PERIOD, Span
from model.contents.randomness import Seed, permuted, random_shares
from model.launch.launch import Number

Array = npt.NDArray[Any]
SUMMED_PERIOD = 1 << 18  # of walks of which one number needs sums of all before, as far as their steps are alike
_AT_ONCE = 1 << 15
_ROUNDING = 1e-6  # so much shorter are steps, lest sums of many of them end beyond a whole one
_ROWS_SEED = Seed.of("rows")  # not the buffer's: row starts in one buffer and lengths in another belong together


class Steps(Protocol):
    """What a walk adds up."""

    def totals(self) -> Array:
        """Return the sums of the steps of one period before each, and of all; made once, when first asked for."""
        ...

    def numbers(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        """Return the numbers after `rounds` whole periods, each of sum `whole`, and steps of sum `totals`."""
        ...


@dataclass(slots=True)
class Walk:
    """Sums of steps that come again after a period."""

    repeats: ClassVar[bool] = False
    steps: Steps

    def at(self, indices: Array) -> Array:
        totals = self.steps.totals()
        rounds, within = np.divmod(indices, max(1, len(totals) - 1))
        return self.steps.numbers(rounds, totals[within], float(totals[-1]))

    def between(self, begin: int, end: int) -> Array:
        totals = self.steps.totals()
        period = max(1, len(totals) - 1)
        rounds, within = divmod(begin, period)
        if within + end - begin > period:
            return self.at(np.arange(begin, end))
        return self.steps.numbers(rounds, totals[within : within + end - begin], float(totals[-1]))


@dataclass(slots=True)
class Clustered:
    """A random walk with steps up to `run`, reflected at both ends, that drifts through the whole span if it can."""

    span: Span
    run: Number
    length: int
    seed: Seed
    _sums: Array | None = field(default=None, init=False)
    _start: float = field(default=0.0, init=False)

    def totals(self) -> Array:
        if self._sums is None:
            longest = (math.floor(self.run) if self.span.is_whole else float(self.run)) * (1 - _ROUNDING)
            drift = min(self.span.width / max(1, self.length), longest / 2)
            self._start = self.seed.first * 2.0**-32 * max(0.0, self.span.width - drift * self.length)
            steps = random_shares(np.arange(min(self.length, SUMMED_PERIOD)), self.seed)
            steps *= 2 * (longest - drift)
            steps += 2 * drift - longest
            self._sums = np.zeros(len(steps) + 1)
            np.cumsum(steps, out=self._sums[1:])
        return self._sums

    def numbers(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        walked = rounds * whole + totals + self._start
        width = self.span.width
        if width and len(walked) and (walked.min() < 0 or walked.max() > width):
            walked -= 2 * width * np.rint(walked / (2 * width))
        return self.span.at(np.abs(walked, out=walked))


@dataclass(slots=True)
class RowPointers:
    """Ascending from 0 to `nonzeros`: rows of random lengths, or with a power law of exponent `skew` between them."""

    nonzeros: int
    skew: float | None
    length: int

    def totals(self) -> Array:
        return _row_totals(self.length - 1, self.skew)

    def numbers(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        sums = self.totals()
        full, rest = divmod(self.length - 1, max(1, len(sums) - 1))
        everything = full * whole + float(sums[rest])  # exact, and so are all sums below
        before = totals + rounds * whole
        if not everything:
            return np.zeros(len(before), np.int64)
        pointers = np.minimum((before * (self.nonzeros / everything)).astype(np.int64), self.nonzeros)
        pointers[before >= everything] = self.nonzeros
        return pointers


@dataclass(slots=True)
class RowLengths:
    """How long the rows are whose starts `pointers` are; the last one ends where all do."""

    repeats: ClassVar[bool] = False
    pointers: RowPointers

    def at(self, indices: Array) -> Array:
        last, starts = max(0, self.pointers.length - 1), Walk(self.pointers)
        lengths: Array = starts.at(np.minimum(indices + 1, last)) - starts.at(indices)
        return lengths


@lru_cache(maxsize=2)  # 8 MB each at the most
def _row_totals(rows: int, skew: float | None) -> Array:
    """Return the sums of the rows' lengths before each, up to a period, as multiples of one power of two.

    So they add up exactly, whatever is added to what first: later rows never begin before earlier ones.
    """
    drawn = min(max(1, rows), SUMMED_PERIOD if skew is None else PERIOD)
    sums = np.zeros(drawn + 1)
    for begin in range(0, drawn, _AT_ONCE):
        lengths = sums[1 + begin : 1 + min(drawn, begin + _AT_ONCE)]
        indices = np.arange(begin, begin + len(lengths))
        if skew is None:  # as between points that were thrown at random
            lengths[...] = -np.log1p(-random_shares(indices, _ROWS_SEED))
        else:
            lengths[...] = (1.0 + permuted(indices, drawn, _ROWS_SEED)) ** -float(skew)
    most = max(1.0, float(sums.sum())) * (rows // drawn + 1)
    unit = 2.0 ** (math.ceil(math.log2(most)) - 50)
    sums /= unit
    np.cumsum(np.rint(sums, out=sums), out=sums)
    sums *= unit
    return sums
