"""How far predictions are off, in the four figures that are always told together, and the noise that bounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model.training.rows import Floats, Ints, Rows


@dataclass(frozen=True, slots=True)
class Figures:
    """Percent, but for `rank_correlation` (Spearman's) and `rows`. MAPE rewards saying too little: see the others."""

    rows: int
    mape: float
    median_ape: float
    within_2x: float
    rank_correlation: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table: who predicts, what, and how far off it is."""

    who: str
    split: str
    device: str  # "all" together, or one
    figures: Figures


def figures_of(predicted_log2_us: Floats, log2_us: Floats) -> Figures:
    """Both [rows]."""
    if not len(log2_us):
        return Figures(0, np.nan, np.nan, np.nan, np.nan)
    ape = np.abs(np.exp2(np.clip(predicted_log2_us - log2_us, -60, 60)) - 1)
    within = np.abs(predicted_log2_us - log2_us) <= 1
    return Figures(
        len(log2_us),
        100 * float(ape.mean()),
        100 * float(np.median(ape)),
        100 * float(within.mean()),
        rank_correlation(predicted_log2_us, log2_us),
    )


def mean_figures(each: Sequence[Figures]) -> Figures:
    """Average figures, each counting alike; `rows` are added up. What one does not know is left out of its mean."""

    def of(name: str) -> float:
        return float(np.nanmean([getattr(one, name) for one in each]))

    return Figures(sum(one.rows for one in each), of("mape"), of("median_ape"), of("within_2x"), of("rank_correlation"))


def rank_correlation(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating]) -> float:
    """Spearman's; NaN where one of them is constant."""
    first, second = _ranks(a), _ranks(b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Equal values share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    found: npt.NDArray[np.float64] = (last - (count - 1) / 2)[place]
    return found


@dataclass(frozen=True, slots=True)
class Noise:
    """How far a row and its repetition in another process lie apart, percent; `pairs` undisturbed ones."""

    pairs: int
    median: float
    p90: float


def noise_of(rows: Rows, device: str | None = None) -> Noise:
    """Of one device, or of all. No model can be closer to single measurements than these are to each other."""
    quiet = ~rows.is_disturbed if device is None else ~rows.is_disturbed & (rows.device_name == device)
    first = {_name(rows, int(at)): int(at) for at in np.flatnonzero(quiet & ~rows.is_repeat)}
    again = [(first.get(_name(rows, int(at))), int(at)) for at in np.flatnonzero(quiet & rows.is_repeat)]
    pairs = [(a, b) for a, b in again if a is not None]
    if not pairs:
        return Noise(0, np.nan, np.nan)
    apart = [100 * (2 ** abs(float(rows.log2_us[a] - rows.log2_us[b])) - 1) for a, b in pairs]
    return Noise(len(pairs), float(np.median(apart)), float(np.quantile(apart, 0.9)))


def _name(rows: Rows, at: int) -> tuple[str, str, str]:
    return str(rows.device_name[at]), str(rows.kernel[at]), str(rows.launch_key[at])


@dataclass(frozen=True, slots=True)
class Ordering:
    """`kernels` that had several launches of the kind, and a figure of them."""

    kernels: int
    figure: float


def data_size_ordering(rows: Rows, predicted: Floats, chosen: Ints) -> Ordering:
    """Rank correlation within a kernel whose data change at a fixed global size: the mean over kernels.

    Two launches correlate with 1 or -1; those that differ by less than noise are left out.
    """
    found = [
        rank_correlation(predicted[group], rows.log2_us[group])
        for group in _grouped(rows, chosen, by_items=True)
        if len(np.unique(rows.data[group])) >= 2 and np.ptp(rows.log2_us[group]) > _TELLS_OCTAVES
    ]
    known = [each for each in found if not np.isnan(each)]
    return Ordering(len(known), float(np.mean(known)) if known else float("nan"))


def local_size_choice(rows: Rows, predicted: Floats, chosen: Ints, *, within: float = 1.1) -> Ordering:
    """Percent of kernels whose local size that is predicted to be best takes at most `within` times the best's time."""
    found = []
    for group in _grouped(rows, chosen, by_items=False):
        own = group[np.isin(rows.vary[group], ("first", "local"))]
        if len(own) >= 2 and "local" in rows.vary[own]:
            best = own[np.argmin(predicted[own])]
            found.append(rows.log2_us[best] - rows.log2_us[own].min() <= np.log2(within))
    return Ordering(len(found), 100 * float(np.mean(found)) if found else float("nan"))


_TELLS_OCTAVES = 0.3  # launches closer than that are ordered by noise


def _grouped(rows: Rows, chosen: Ints, *, by_items: bool) -> list[Ints]:
    """Rows of one kernel on one device, perhaps of one global size; groups of two and more."""
    found: dict[tuple[object, ...], list[int]] = {}
    for at in chosen:
        key = (rows.device_name[at], rows.kernel[at], float(rows.items[at]) if by_items else 0)
        found.setdefault(key, []).append(int(at))
    return [np.array(group) for group in found.values() if len(group) > 1]
