"""The numbers that each fill word stands for: at any index by itself, and fast for many in a row."""

from __future__ import annotations

from collections.abc import Sequence as Items
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from model.contents.pointwise import (
    Choice,
    Constant,
    Counting,
    Integers,
    Permutation,
    Skewed,
    Sorted,
    Span,
    Uniform,
)
from model.contents.randomness import Seed
from model.contents.walks import Clustered, RowLengths, RowPointers, Walk
from model.launch.fill import DEFAULT_FLOATS
from model.launch.launch import Fill, Number

Array = npt.NDArray[Any]
# So many random values are drawn, and then repeated, which is fast. Integers may be indices: a gather through fewer
# different ones would find its lines in the caches again. Of floats no kernel can tell.
PIECE, FLOAT_PIECE = 1 << 22, 1 << 18


class Sequence(Protocol):
    """Numbers by index, from 0 on; `repeats` where those after a piece may be the first ones again."""

    @property
    def repeats(self) -> bool: ...

    def at(self, indices: Array) -> Array: ...


def numbers_between(numbers: Sequence, begin: int, end: int) -> Array:
    """Return the numbers at `begin` .. `end - 1`."""
    if isinstance(numbers, Sorted | Walk):  # these need not work out each number from its index
        return numbers.between(begin, end)
    return numbers.at(np.arange(begin, end))


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
            return Walk(RowPointers(int(nonzeros), float(skew[0]) if skew else None, length))
        case "csr_lengths", (nonzeros, *skew):
            return RowLengths(RowPointers(int(nonzeros), float(skew[0]) if skew else None, length))
        case "sorted", (low, high):
            return Sorted(Span.between(low, high, dtype), length, seed)
        case "clustered", (low, high, run):
            return Walk(Clustered(Span.between(low, high, dtype), run, length, seed))
        case _:
            return None


def _every_other(numbers: Items[Number]) -> tuple[Number, ...]:
    return tuple(numbers[::2])
