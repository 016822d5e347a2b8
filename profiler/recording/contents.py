"""Describe the contents of a buffer by a fill word: range, order, distinct values, zeros, row pointers. Needs NumPy.

`model.contents` fills buffers by such words; a buffer that was filled by a word is described by a similar one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.contents.leaves import UnknownContents, leaves
from model.opencl.types import Type

Array = npt.NDArray[Any]
MAX_CHOICES = 8
_ENOUGH = 32  # values; frequencies among fewer mean nothing
_MOSTLY_ZERO = 0.4
_MUCH_ZERO = 0.1  # if the other values are many
_CLOSE = 1 / 16  # share of the range; neighbours that never differ by more are clustered
_DIGITS = 6
_MAX_DECADES = 40  # between the least and the greatest of a buffer's floats
_FLAT_PERCENT = 25.0  # how far from equal the frequencies of `randint` may be


def describe(data: bytes, element: Type) -> dict[str, str]:
    """Return fill words for a buffer of such elements: "" for all of it, or one for each member of a struct.

    Empty where nothing can be said. `data` may be a sample of it: evenly spaced blocks.
    """
    size = element.size_bytes
    length = len(data) // size if size else 0
    if not length:
        return {}
    memory = np.frombuffer(data, np.uint8, length * size).copy()
    try:
        found = [(".".join(leaf.path), leaf.values(memory).reshape(-1)) for leaf in leaves(element, length, "")]
    except UnknownContents:
        return {}
    words: dict[str, str] = {}
    for part, values in found:
        word = fill_word(values)
        if word and part not in words:
            words[part] = word
    return words


def fill_word(values: Array) -> str:
    """Return the word that describes these numbers best; "" for none."""
    if values.dtype.kind == "f":
        least = float(np.finfo(values.dtype).tiny)
        values = values[np.isfinite(values)].astype(np.float64)
        values[np.abs(values) < least] = 0.0  # subnormal numbers are uninitialized memory, and slow
        if not _is_written(values):
            return ""
        if len(values) and np.abs(values).max() < 2**53 and (values == np.rint(values)).all():
            values = values.astype(np.int64)  # whole numbers in a floating-point type
    if not len(values):
        return ""
    low, high = values.min(), values.max()
    if low == high:
        return "zeros" if not low else f"const:{_shown(low)}"
    if values.dtype.kind == "f":
        return _ordered_word(values) or _mixed_word(values) or f"uniform:{_shown(low)}:{_shown(high)}"
    return _whole_word(values) or f"randint:{int(low)}:{int(high) + 1}"


def _is_written(values: Array) -> bool:
    """Return False for values that look like uninitialized memory: numbers of all magnitudes side by side."""
    magnitudes = np.abs(values[values != 0])
    return not len(magnitudes) or float(np.log10(magnitudes.max()) - np.log10(magnitudes.min())) < _MAX_DECADES


def _whole_word(values: Array) -> str:
    low, high, count = int(values.min()), int(values.max()), len(values)
    if not low and high == count - 1 and count > 2:
        order = np.arange(count, dtype=values.dtype)
        if (values == order).all():
            return "iota"
        if (np.bincount(values.astype(np.int64), minlength=count) == 1).all():
            return "perm"
    return row_pointers(values) or _ordered_word(values) or _mixed_word(values)


def _ordered_word(values: Array) -> str:
    """Return a word for values that ascend, or whose neighbours are close; "" for others."""
    low, high = values.min(), values.max()
    steps = np.diff(values.astype(np.float64))
    is_whole = values.dtype.kind != "f"
    above = int(high) + 1 if is_whole else high
    if len(values) > 2 and (steps >= 0).all():
        return f"sorted:{_shown(low)}:{_shown(above)}"
    distances = np.abs(steps)
    if len(values) < _ENOUGH or (is_whole and int(high) - int(low) < 2 / _CLOSE):
        return ""
    run = float(np.quantile(distances, 0.995))
    if 0 < run <= (float(high) - float(low)) * _CLOSE:
        longest = max(1, round(run)) if is_whole else run
        return f"clustered:{_shown(low)}:{_shown(above)}:{_shown(longest)}"
    return ""


def _mixed_word(values: Array) -> str:
    """Return a word for few distinct values, for many zeros, and for low values that are far more frequent."""
    if len(values) < _ENOUGH:
        return ""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= MAX_CHOICES:
        is_mask = distinct.tolist() == [0, 1]
        if is_mask:
            return f"mask:{_shown(float(counts[1] / len(values)))}"
        return "" if _is_flat(distinct, counts) else _choice(distinct, counts)
    zeros = float(np.count_nonzero(values == 0) / len(values))
    if _is_skewed(values):
        above = int(distinct[-1]) + 1 if values.dtype.kind != "f" else distinct[-1]
        return f"skewed:{_shown(distinct[0])}:{_shown(above)}"
    expected = 1 / len(distinct)
    if zeros > _MOSTLY_ZERO or (zeros > _MUCH_ZERO and zeros > 8 * expected):
        others = values[values != 0].astype(np.float64)
        kept = np.quantile(others, (np.arange(MAX_CHOICES - 1) + 0.5) / (MAX_CHOICES - 1), method="nearest")
        kept = kept if values.dtype.kind == "f" else kept.astype(np.int64)
        weight = (1 - zeros) / len(kept)
        some, times = np.unique(kept, return_counts=True)
        return _choice(np.array([0, *some.tolist()]), np.array([zeros, *(times * weight)]))
    return ""


def _is_flat(distinct: Array, counts: Array) -> bool:
    """Return whether these are neighbouring whole numbers, each about as frequent."""
    if distinct.dtype.kind == "f" or int(distinct[-1]) - int(distinct[0]) != len(distinct) - 1:
        return False
    mean = counts.mean()
    tolerance = max(_FLAT_PERCENT / 100, 4 / np.sqrt(mean))  # random variation
    return bool((np.abs(counts - mean) <= tolerance * mean).all())


def _is_skewed(values: Array) -> bool:
    """Return whether the logarithms of the distances from the least value are spread evenly, and those are not."""
    from_low = np.sort(values.astype(np.float64) - float(values.min()))
    width = float(from_low[-1])
    if values.dtype.kind == "f":
        base = 1024.0
        shares = np.log1p(from_low / width * (base - 1)) / np.log(base)
    elif width < MAX_CHOICES * 2:
        return False
    else:
        shares = np.log1p(from_low + 0.5) / np.log(width + 2)
    even = (np.arange(len(values)) + 0.5) / len(values)
    of_logarithms = float(np.abs(np.clip(shares, 0, 1) - even).mean())
    return of_logarithms < 0.5 * float(np.abs(from_low / width - even).mean()) and of_logarithms < 0.1


def _choice(values: Array, weights: Array) -> str:
    total = float(weights.sum())
    parts = [
        f"{_shown(value)}@{_shown(round(float(weight) / total, 3) or 0.001)}"
        for value, weight in zip(values, weights, strict=True)
    ]
    return "choice:" + ",".join(parts)


def _shown(value: Any) -> str:  # noqa: ANN401 - NumPy's scalars
    if isinstance(value, float | np.floating):
        return f"{float(value):.{_DIGITS}g}"
    return str(int(value))


_MAX_ROWS = 1 << 16  # more are sampled
_SKEWS = np.arange(0.0, 4.05, 0.1)
_EVEN = 0.1  # share of the mean: differences between equal lengths after rounding
_SORTED_SPREAD = (0.3, 0.5)  # of row lengths, if the values are sorted random numbers
_LONG_ROWS = 4


def row_pointers(values: Array) -> str:
    """Return `csr_rows:NNZ` or `csr_rows:NNZ:SKEW` for whole numbers that ascend from 0; "" for others."""
    if len(values) < 3 or values[0] != 0:
        return ""
    lengths = np.diff(values.astype(np.float64))
    nonzeros, mean = int(values[-1]), float(lengths.mean())
    if (lengths < 0).any() or not mean:
        return ""
    spread = float(lengths.std() / mean)
    if mean >= _LONG_ROWS and _SORTED_SPREAD[0] < spread < _SORTED_SPREAD[1]:
        return ""
    skew = _skew(lengths, mean)
    return f"csr_rows:{nonzeros}" if skew is None else f"csr_rows:{nonzeros}:{skew:.2g}"


def _skew(lengths: Array, mean: float) -> float | None:
    """Return the exponent by which lengths fall with their rank; None if they look like those of random points."""
    some = np.sort(lengths[:: max(1, len(lengths) // _MAX_ROWS)])[::-1]
    ranks = np.arange(1, len(some) + 1)
    if np.abs(some - mean).max() <= max(1.0, _EVEN * mean):
        return 0.0
    at_random = -np.log((ranks - 0.5) / len(some))
    errors = [_distance(some, ranks**-skew) for skew in _SKEWS]
    best = int(np.argmin(errors))
    return None if _distance(some, at_random) <= errors[best] else float(_SKEWS[best])


def _distance(lengths: Array, shape: Array) -> float:
    """Return how far the lengths, in descending order, are from this shape of the same sum."""
    return float(np.abs(lengths - shape * (lengths.sum() / shape.sum())).sum())
