"""The numbers that each fill word stands for: at any index by itself, and fast for many in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from model.contents.randomness import Seed, permuted, random_below, random_bits, random_shares
from model.launch.fill import DEFAULT_FLOATS, SKEWED_FLOATS_BASE
from model.launch.launch import Fill, Number

Array = npt.NDArray[Any]
# So many random values are drawn, and then repeated, which is fast. Integers may be indices: a gather through fewer
# different ones would find its lines in the caches again. Of floats no kernel can tell.
PIECE, FLOAT_PIECE = 1 << 22, 1 << 18
PERIOD = 1 << 20  # sequences go on with the same steps after so many elements
SUMMED_PERIOD = 1 << 18  # those of which one number needs sums of all before, as far as their steps are alike
_AT_ONCE = 1 << 15
_ROUNDING = 1e-6  # so much shorter are steps, lest sums of many of them end beyond a whole one
_WIDEST = 2.0**63 - 1024.0  # what 64 bits hold as a distance
_ROWS_SEED = Seed.of("rows")  # not the buffer's: row starts in one buffer and lengths in another belong together


class Sequence(Protocol):
    """Numbers by index, from 0 on; `repeats` where those after a piece may be the first ones again."""

    @property
    def repeats(self) -> bool: ...

    def at(self, indices: Array) -> Array: ...

    def between(self, begin: int, end: int) -> Array: ...


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers of one type from `low` on, below `low + width`."""

    dtype: np.dtype[Any]
    low: Number
    width: float  # of integers: how many there are

    @classmethod
    def between(cls, low: Number, high: Number, dtype: np.dtype[Any]) -> Span:
        """Return what the type holds of [low, high), and at least one number of it."""
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
        """Return the numbers so far beyond `low`; distances are at least 0, and those beyond become the last."""
        if self.is_whole:
            whole = np.minimum(distances, np.nextafter(self.width, 0.0)).astype(np.int64)
            whole += np.uint64(self.low % 2**64).astype(np.int64)  # wraps as the type does
            return whole
        low, high = self.dtype.type(self.low), self.dtype.type(self.low + self.width)
        last = max(low, np.nextafter(high, self.dtype.type(-np.inf)))
        numbers: Array = np.clip((distances + self.low).astype(self.dtype), low, last)
        return numbers


class _Pointwise:
    """What an index alone decides."""

    __slots__ = ()
    repeats = True

    def at(self, indices: Array) -> Array:
        raise NotImplementedError

    def between(self, begin: int, end: int) -> Array:
        return self.at(np.arange(begin, end))


@dataclass(frozen=True, slots=True)
class Constant(_Pointwise):
    """The same everywhere; integers wrap as the type does."""

    value: Number
    dtype: np.dtype[Any]

    def at(self, indices: Array) -> Array:
        if self.dtype.kind == "f" or isinstance(self.value, float):
            return np.full(len(indices), float(self.value))
        bits = np.uint64(self.value % 2**64)
        return np.full(len(indices), bits.astype(np.dtype(f"u{self.dtype.itemsize}")))


@dataclass(frozen=True, slots=True)
class Uniform(_Pointwise):
    """Evenly spread from `low` to `high`; numbers, not whole ones."""

    low: float
    high: float
    seed: Seed

    def at(self, indices: Array) -> Array:
        shares = random_shares(indices, self.seed)
        shares *= self.high - self.low
        shares += self.low
        return shares


@dataclass(frozen=True, slots=True)
class Integers(_Pointwise):
    """Whole numbers, each of `low` .. `low + width - 1` as likely."""

    low: int
    width: int
    seed: Seed

    def at(self, indices: Array) -> Array:
        if not self.low and self.width <= 256:  # the default, and worth its own way: 4 million of them are drawn
            bits = random_bits(indices, self.seed)
            bits >>= np.uint32(16)
            bits *= np.uint32(self.width)
            bits >>= np.uint32(16)
            return bits
        numbers = random_below(indices, self.width, self.seed)
        numbers += np.uint64(self.low % 2**64)
        return numbers if self.low >= 2**63 else numbers.view(np.int64)


@dataclass(frozen=True, slots=True)
class Choice(_Pointwise):
    """One of a few values, each with its weight."""

    values: tuple[Number, ...]
    weights: tuple[Number, ...]
    seed: Seed

    def at(self, indices: Array) -> Array:
        totals = np.cumsum(np.asarray(self.weights, np.float64))
        chosen = np.searchsorted(totals[:-1], random_shares(indices, self.seed) * totals[-1], side="right")
        numbers: Array = np.asarray(self.values)[chosen]
        return numbers


@dataclass(frozen=True, slots=True)
class Skewed(_Pointwise):
    """Numbers by Zipf's law: of integers, the k-th is as frequent as 1 / k."""

    span: Span
    seed: Seed

    def at(self, indices: Array) -> Array:
        base = self.span.width + 1.0 if self.span.is_whole else SKEWED_FLOATS_BASE
        return self.span.at((base ** random_shares(indices, self.seed) - 1.0) * (self.span.width / (base - 1.0)))


@dataclass(frozen=True, slots=True)
class Counting(_Pointwise):
    """Each element its own index."""

    repeats = False

    def at(self, indices: Array) -> Array:
        return indices


@dataclass(frozen=True, slots=True)
class Permutation(_Pointwise):
    """Each index once, in a random order."""

    length: int
    seed: Seed
    repeats = False

    def at(self, indices: Array) -> Array:
        return permuted(indices, self.length, self.seed)


@dataclass(slots=True)
class Sorted(_Pointwise):
    """Ascending: one number from each of as many equal parts of the span as there are elements."""

    span: Span
    length: int
    seed: Seed
    _drawn: Array | None = field(default=None, init=False)  # the numbers of a period, in parts, once all are needed
    repeats = False

    def at(self, indices: Array) -> Array:
        within = random_shares(indices & (PERIOD - 1), self.seed)
        within += indices
        return self._number(within)

    def between(self, begin: int, end: int) -> Array:
        at = begin % PERIOD
        if self.length <= PERIOD or at + end - begin > PERIOD:
            return self.at(np.arange(begin, end))
        if self._drawn is None:
            self._drawn = random_shares(np.arange(PERIOD), self.seed)
            self._drawn += np.arange(PERIOD)
        return self._number(self._drawn[at : at + end - begin] + (begin - at))

    def _number(self, within: Array) -> Array:
        within *= self.span.width / max(1, self.length)
        return self.span.at(within)


@dataclass(slots=True)
class _Walk:
    """Sums of steps that come again after a period; the sums are made once, when they are first asked for."""

    repeats = False

    def _totals(self) -> Array:
        raise NotImplementedError

    def _number(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        """Return the numbers after `rounds` whole periods, each of sum `whole`, and steps of sum `totals`."""
        raise NotImplementedError

    def at(self, indices: Array) -> Array:
        totals = self._totals()
        rounds, within = np.divmod(indices, max(1, len(totals) - 1))
        return self._number(rounds, totals[within], float(totals[-1]))

    def between(self, begin: int, end: int) -> Array:
        totals = self._totals()
        period = max(1, len(totals) - 1)
        rounds, within = divmod(begin, period)
        if within + end - begin > period:
            return self.at(np.arange(begin, end))
        return self._number(rounds, totals[within : within + end - begin], float(totals[-1]))


@dataclass(slots=True)
class Clustered(_Walk):
    """A random walk with steps up to `run`, reflected at both ends, that drifts through the whole span if it can."""

    span: Span
    run: Number
    length: int
    seed: Seed
    _sums: Array | None = field(default=None, init=False)
    _start: float = field(default=0.0, init=False)

    def _totals(self) -> Array:
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

    def _number(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        walked = rounds * whole + totals + self._start
        width = self.span.width
        if width and len(walked) and (walked.min() < 0 or walked.max() > width):
            walked -= 2 * width * np.rint(walked / (2 * width))
        return self.span.at(np.abs(walked, out=walked))


@dataclass(slots=True)
class RowPointers(_Walk):
    """Ascending from 0 to `nonzeros`: rows of random lengths, or with a power law of exponent `skew` between them."""

    nonzeros: int
    skew: float | None
    length: int

    def _totals(self) -> Array:
        return _row_totals(self.length - 1, self.skew)

    def _number(self, rounds: Array | int, totals: Array, whole: float) -> Array:
        sums = self._totals()
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

    pointers: RowPointers
    repeats = False

    def at(self, indices: Array) -> Array:
        last = max(0, self.pointers.length - 1)
        lengths: Array = self.pointers.at(np.minimum(indices + 1, last)) - self.pointers.at(indices)
        return lengths

    def between(self, begin: int, end: int) -> Array:
        return self.at(np.arange(begin, end))


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


def sequence(fill: Fill, dtype: np.dtype[Any], length: int, integer_limit: int, seed: Seed) -> Sequence | None:
    """Return the numbers of `length` elements; None for a word that is not known.

    `integer_limit`: `random` integers stay below it.
    """
    is_float = dtype.kind == "f"
    match fill.kind, fill.arguments:
        case "random", ():
            return Uniform(*DEFAULT_FLOATS, seed) if is_float else Integers(0, integer_limit, seed)
        case "zeros", ():
            return Constant(0, dtype)
        case "const", (value,):
            return Constant(value, dtype)
        case "uniform", (low, high):
            return Uniform(float(low), float(high), seed)
        case "randint", (low, high):
            return Integers(int(low), max(1, int(high) - int(low)), seed)
        case "skewed", (low, high):
            return Skewed(Span.between(low, high, dtype), seed)
        case "mask", (share,):
            return Choice((1, 0), (share, 1 - share), seed)
        case "choice", [_, _, *_] as pairs:
            return Choice(_every_other(pairs), _every_other(pairs[1:]), seed)
        case _:
            return _ordered(fill, dtype, length, seed)


def _ordered(fill: Fill, dtype: np.dtype[Any], length: int, seed: Seed) -> Sequence | None:
    match fill.kind, fill.arguments:
        case "iota", ():
            return Counting()
        case "perm", ():
            return Permutation(length, seed)
        case "csr_rows", (nonzeros, *skew):
            return RowPointers(int(nonzeros), float(skew[0]) if skew else None, length)
        case "csr_lengths", (nonzeros, *skew):
            return RowLengths(RowPointers(int(nonzeros), float(skew[0]) if skew else None, length))
        case "sorted", (low, high):
            return Sorted(Span.between(low, high, dtype), length, seed)
        case "clustered", (low, high, run):
            return Clustered(Span.between(low, high, dtype), run, length, seed)
        case _:
            return None


def _every_other(numbers: Items[Number]) -> tuple[Number, ...]:
    return tuple(numbers[::2])
