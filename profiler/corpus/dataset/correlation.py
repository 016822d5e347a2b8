"""Rank correlation, and how far it goes within each family."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
FEWEST = 10  # pairs, below which a correlation says nothing


def spearman(left: Numbers, right: Numbers) -> float | None:
    """Spearman's rank correlation, -1 to 1; None for too few pairs, or where one side never changes."""
    if len(left) < FEWEST:
        return None
    ranks = [_ranks(side) - (len(side) + 1) / 2 for side in (left, right)]
    scale = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / scale if scale else None


def within(groups: Numbers, left: Numbers, right: Numbers) -> dict[int, float]:
    """Return the correlation within each group (a number for each pair), where there is one.

    NaN stands for no value.
    """
    usable = np.isfinite(left) & np.isfinite(right)
    order = np.flatnonzero(usable)[np.argsort(groups[usable], kind="stable")]
    names, begins = np.unique(groups[order], return_index=True)
    found = {}
    for name, members in zip(names.tolist(), np.split(order, begins[1:]), strict=False):
        value = spearman(left[members], right[members])
        if value is not None:
            found[name] = value
    return found


def _ranks(values: Numbers) -> Numbers:
    """From 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Numbers = (last - (counts - 1) / 2)[place]
    return ranks
