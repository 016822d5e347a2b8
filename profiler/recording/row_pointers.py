"""Describe row pointers of sparse matrices by the number and skew of their nonzeros. Needs NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
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
