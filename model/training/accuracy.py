"""How far predictions are from what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.training.figures import rank_correlation


@dataclass(frozen=True, slots=True)
class Accuracy:
    """APE = absolute error in percent of the measured time; `error_octaves` = mean of |log2(predicted / measured)|."""

    rows: int
    mape_percent: float
    median_ape_percent: float
    within_2x: float  # share of rows
    spearman: float
    error_octaves: float


def accuracy(predicted_log2_us: NDArray[np.floating], log2_us: NDArray[np.floating]) -> Accuracy:
    """Both [rows]. NaN throughout where there are none."""
    if not len(log2_us):
        return Accuracy(0, *[float("nan")] * 5)
    octaves = predicted_log2_us.astype(np.float64) - log2_us
    ape_percent = 100 * np.abs(np.exp2(octaves) - 1)
    return Accuracy(
        len(octaves),
        float(ape_percent.mean()),
        float(np.median(ape_percent)),
        float((np.abs(octaves) <= 1).mean()),
        rank_correlation(predicted_log2_us, log2_us),
        float(np.abs(octaves).mean()),
    )
