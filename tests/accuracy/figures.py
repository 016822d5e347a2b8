"""How good predictions are: the four figures, and two simple predictions to hold them against on the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np


@dataclass(frozen=True, slots=True)
class Figures:
    """Errors in percent of the measured time. `rank_correlation` is Spearman's."""

    n: int
    mape_percent: float
    median_ape_percent: float
    within_2x_percent: float
    rank_correlation: float
    error_factor: float  # geometric mean of how often too long or too short


def figures(predicted_us: Sequence[float], measured_us: Sequence[float]) -> Figures:
    """Of at least one pair."""
    predicted, measured = np.asarray(predicted_us), np.asarray(measured_us)
    ape = 100 * np.abs(predicted / measured - 1)
    logs = np.abs(np.log(predicted / measured))
    return Figures(
        n=len(predicted),
        mape_percent=round(float(ape.mean()), 1),
        median_ape_percent=round(float(median(ape)), 1),
        within_2x_percent=round(100 * float((logs <= math.log(2)).mean()), 1),
        rank_correlation=round(_spearman(predicted, measured), 3),
        error_factor=round(math.exp(float(logs.mean())), 2),
    )


def by_launch_size(work_items: Sequence[int], measured_us: Sequence[float]) -> list[float]:
    """The baseline that knows nothing but how many work-items there are: time = a * items^b, each row by a line
    fitted (least squares of logarithms) through all the others."""
    x, y = np.log(np.asarray(work_items, float)), np.log(np.asarray(measured_us))
    found = []
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        if len(set(x[others])) < 2:
            found.append(float(np.exp(y[others].mean())) if others.any() else float(measured_us[i]))
            continue
        slope, start = np.polyfit(x[others], y[others], 1)
        found.append(float(np.exp(start + slope * x[i])))
    return found


def as_dict(found: Figures) -> dict[str, float]:
    return asdict(found)


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    if len(a) < 2:
        return 1.0
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Equal values share the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    for value in np.unique(values):
        same = values == value
        ranks[same] = ranks[same].mean()
    return ranks
