"""The median and how well it is known, without assuming any distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median

CONFIDENCE = 0.95


def quantile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics; `share` in 0..1."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The narrowest symmetric pair of order statistics that holds the median with 95 % confidence.

    The number of values below the median is binomial(n, 1/2). With fewer than six values no pair reaches 95 %:
    then it is the least and the greatest.
    """
    ordered = sorted(values)
    n = len(ordered)
    outside, rank = 0.0, 0
    while rank < n // 2:
        outside += 2 * comb(n, rank) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        rank += 1
    rank = max(0, rank - 1)
    return ordered[rank], ordered[n - 1 - rank]


def spread_percent(values: Sequence[float]) -> float:
    """Median absolute deviation from the median, scaled to a standard deviation, in percent of the median."""
    middle = median(values)
    return 148.26 * median(abs(value - middle) for value in values) / middle if middle else 0.0
