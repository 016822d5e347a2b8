"""Numbers that their index alone decides: the fill words that spread, choose, count and order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from model.contents.randomness import Seed, permuted, random_below, random_bits, random_shares
from model.launch.fill import SKEWED_FLOATS_BASE
from model.launch.launch import Number

Array = npt.NDArray[Any]
PERIOD = 1 << 20  # elements after which the steps of a sequence repeat
_WIDEST = 2.0**63 - 1024.0  # what 64 bits hold as a distance


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


@dataclass(frozen=True, slots=True)
class Constant:
    """The same everywhere; integers wrap as the type does."""

    repeats: ClassVar[bool] = True
    value: Number
    dtype: np.dtype[Any]

    def at(self, indices: Array) -> Array:
        if self.dtype.kind == "f" or isinstance(self.value, float):
            return np.full(len(indices), float(self.value))
        bits = np.uint64(self.value % 2**64)
        return np.full(len(indices), bits.astype(np.dtype(f"u{self.dtype.itemsize}")))


@dataclass(frozen=True, slots=True)
class Uniform:
    """Evenly spread from `low` to `high`; numbers, not whole ones."""

    repeats: ClassVar[bool] = True
    low: float
    high: float
    seed: Seed

    def at(self, indices: Array) -> Array:
        shares = random_shares(indices, self.seed)
        shares *= self.high - self.low
        shares += self.low
        return shares


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers, each of `low` .. `low + width - 1` as likely."""

    repeats: ClassVar[bool] = True
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
class Choice:
    """One of a few values, each with its weight."""

    repeats: ClassVar[bool] = True
    values: tuple[Number, ...]
    weights: tuple[Number, ...]
    seed: Seed

    def at(self, indices: Array) -> Array:
        totals = np.cumsum(np.asarray(self.weights, np.float64))
        chosen = np.searchsorted(totals[:-1], random_shares(indices, self.seed) * totals[-1], side="right")
        numbers: Array = np.asarray(self.values)[chosen]
        return numbers


@dataclass(frozen=True, slots=True)
class Skewed:
    """Numbers by Zipf's law: of integers, the k-th is as frequent as 1 / k."""

    repeats: ClassVar[bool] = True
    span: Span
    seed: Seed

    def at(self, indices: Array) -> Array:
        base = self.span.width + 1.0 if self.span.is_whole else SKEWED_FLOATS_BASE
        return self.span.at((base ** random_shares(indices, self.seed) - 1.0) * (self.span.width / (base - 1.0)))


@dataclass(frozen=True, slots=True)
class Counting:
    """Each element its own index."""

    repeats: ClassVar[bool] = False

    def at(self, indices: Array) -> Array:
        return indices


@dataclass(frozen=True, slots=True)
class Permutation:
    """Each index once, in a random order."""

    repeats: ClassVar[bool] = False
    length: int
    seed: Seed

    def at(self, indices: Array) -> Array:
        return permuted(indices, self.length, self.seed)


@dataclass(slots=True)
class Sorted:
    """Ascending: one number from each of as many equal parts of the span as there are elements."""

    repeats: ClassVar[bool] = False
    span: Span
    length: int
    seed: Seed
    _drawn: Array | None = field(default=None, init=False)  # the numbers of a period, in parts, once all are needed

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
