"""The median and how well it is known, without assuming any distribution."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, erfc, sqrt
from statistics import median

CONFIDENCE = 0.95
CONFIDENCE_DEVIATIONS = 1.96  # of a normal distribution, on either side
FAR_DEVIATIONS = 5.0  # from the median: an outlier
LEAST_DEVIATION = 0.01  # of the median; else one step of the clock would be an outlier among equal times
TREND_CHANCE = 0.01  # at most, that times without a trend look as if they had one
LEAST_TREND = 0.02  # of the median, from first to last; less is not worth a word
LEAST_FOR_TREND = 8  # values


def quantile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics; `share` in 0..1."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest symmetric pair of order statistics that holds the median with 95 % confidence.

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


def outliers(values: Sequence[float]) -> int:
    """Return how many lie more than five robust standard deviations from the median.

    Source: Leys et al., "Detecting outliers", J. Experimental Social Psychology 49 (2013), with a stricter bound.
    """
    middle = median(values)
    deviation = max(1.4826 * median(abs(value - middle) for value in values), LEAST_DEVIATION * middle)
    return sum(abs(value - middle) > FAR_DEVIATIONS * deviation for value in values)


def drift_percent(values: Sequence[float]) -> float:
    """Return the trend from the first to the last value, in percent of the median.

    0 unless it is significant and matters. Significance: Mann, "Nonparametric tests against trend", Econometrica 13
    (1945), with Kendall's correction for ties; size: the median of the slopes of all pairs (Theil, 1950; Sen, 1968).
    """
    n, middle = len(values), median(values) if values else 0.0
    if n < LEAST_FOR_TREND or not middle or _chance_of_trend(values) > TREND_CHANCE:
        return 0.0
    slope = median((values[j] - values[i]) / (j - i) for i, j in combinations(range(n), 2))
    drift = slope * (n - 1) / middle
    return drift * 100 if abs(drift) >= LEAST_TREND else 0.0


def _chance_of_trend(values: Sequence[float]) -> float:
    """Return the probability that values in random order rise or fall as consistently as these."""
    n = len(values)
    score = sum((b > a) - (b < a) for a, b in combinations(values, 2))
    ties = [values.count(value) for value in set(values)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    return erfc(max(0, abs(score) - 1) / sqrt(2 * variance)) if variance > 0 else 1.0
