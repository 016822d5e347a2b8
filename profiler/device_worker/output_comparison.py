"""Compare the contents of buffers: bit by bit, in units in the last place, and relative to their size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from model.contents.leaves import Leaf, UnknownContents, leaves
from model.opencl.types import Type, VectorType
from profiler.turns import Difference

Array = npt.NDArray[Any]
_Number = TypeVar("_Number", int, float)
ROWS_AT_ONCE = 1 << 19  # elements that are compared at a time: intermediate arrays are many times as large


@dataclass(frozen=True, slots=True)
class Output:
    """The bytes of a buffer or image after a run. `element` None: texels, which are compared as `numbers` are."""

    name: str
    numbers: Array  # of bytes, or of an image's channels
    element: Type | None = None


def difference(first: Iterable[Output], other: Iterable[Output]) -> Difference:
    """Compare the outputs of two versions by name."""
    theirs = {output.name: output for output in first}
    other = tuple(other)
    compared: list[str] = []
    not_compared: list[str] = []
    differing: list[_Distance] = []
    for output in other:
        expected = theirs.get(output.name)
        if expected is None or not _is_alike(expected, output):
            not_compared.append(output.name)
            continue
        compared.append(output.name)
        differing += [each for each in _distances(expected, output) if each.example]
    lacking = theirs.keys() - {output.name for output in other}
    return Difference(
        tuple(compared),
        (*not_compared, *sorted(lacking)),
        tuple(dict.fromkeys(each.name for each in differing)),
        _greatest([0, *(each.ulps for each in differing)]),
        _greatest([0.0, *(each.relative for each in differing)]),
        differing[0].example if differing else "",
    )


def _is_alike(first: Output, other: Output) -> bool:
    return first.numbers.nbytes == other.numbers.nbytes and first.numbers.dtype == other.numbers.dtype


def _greatest(found: Sequence[_Number | None]) -> _Number | None:
    """Return None if one of them is."""
    known = [each for each in found if each is not None]
    return None if len(known) < len(found) else max(known)


@dataclass(frozen=True, slots=True)
class _Distance:
    name: str
    ulps: int | None = 0
    relative: float | None = 0.0
    example: str = ""  # empty where nothing differs


def _distances(first: Output, other: Output) -> Iterator[_Distance]:
    if np.array_equal(first.numbers, other.numbers):
        return
    if first.element is None:
        yield _apart(first.name, "", first.numbers.reshape(1, -1), other.numbers.reshape(1, -1))
        return
    length = first.numbers.nbytes // first.element.size_bytes
    try:
        parts = list(leaves(first.element, length, first.name))
    except UnknownContents:
        yield _Distance(first.name, None, None, f"`{first.name}` holds other bytes")
        return
    lanes = first.element.width if isinstance(first.element, VectorType) else None
    for part in parts:
        mine, theirs = part.values(first.numbers), part.values(other.numbers)
        if lanes is not None:
            mine, theirs = mine[:, :lanes], theirs[:, :lanes]  # the fourth of a 3-vector is whatever was in a register
        yield _apart(first.name, _member(part), mine, theirs)


def _member(part: Leaf) -> str:
    return "".join(f".{name}" for name in part.path)


def _apart(name: str, member: str, first: Array, other: Array) -> _Distance:
    """Return the greatest distances of numbers of one type; the first dimension counts elements."""
    is_float = first.dtype.kind == "f"
    scale = _root_mean_square(first) if is_float else 0.0
    ulps, relative, example = 0, 0.0, ""
    for begin in range(0, len(first), ROWS_AT_ONCE):
        a, b = first[begin : begin + ROWS_AT_ONCE], other[begin : begin + ROWS_AT_ONCE]
        with np.errstate(invalid="ignore", over="ignore"):
            differs = (a != b) & ~(np.isnan(a) & np.isnan(b)) if is_float else a != b
        if not differs.any():
            continue
        at = tuple(int(index[0]) for index in np.nonzero(differs))
        if not example:
            place = f"{name}{member}" if len(first) == 1 else f"{name}[{begin + at[0]}]{member}"
            example = f"`{place}` is {b[at]!s} instead of {a[at]!s}"
        a, b = a[differs], b[differs]
        if not is_float or np.isnan(a).any() or np.isnan(b).any():
            return _Distance(name, None, None, example)
        ulps = max(ulps, int(ulps_apart(a, b).max()))
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.abs(wide_a - wide_b) / np.maximum(np.abs(wide_a), scale)
        relative = max(relative, float(np.nan_to_num(shares, nan=np.inf).max()))
    return _Distance(name, ulps, relative, example)


def ulps_apart(a: Array, b: Array) -> Array:
    """Return how many numbers of their type lie between, and 0 for 0 and -0. Neither may be a NaN.

    Source: Dawson, "Comparing floating point numbers, 2012 edition": as integers, floats are in order but for their
    sign.
    """
    kind = np.dtype(f"u{a.dtype.itemsize}")
    sign = kind.type(1 << (8 * a.dtype.itemsize - 1))

    def ordered(numbers: Array) -> Array:
        bits = np.ascontiguousarray(numbers).view(kind)
        mapped: Array = np.where(bits & sign, ~bits + kind.type(1), bits | sign)
        return mapped

    first, second = ordered(a), ordered(b)
    apart: Array = np.where(first > second, first - second, second - first)
    return apart


def _root_mean_square(numbers: Array) -> float:
    squares, count = 0.0, 0
    for begin in range(0, len(numbers), ROWS_AT_ONCE):
        piece = numbers[begin : begin + ROWS_AT_ONCE].astype(np.float64)
        finite = piece[np.isfinite(piece)]
        squares += float(np.dot(finite, finite))
        count += finite.size
    return sqrt(squares / count) if count else 0.0
