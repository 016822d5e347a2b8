"""How well predictions carry over to a GPU that was never seen: leave devices out, over public measurements.

A quarter of the devices at a time is predicted from their profiles alone, by trees grown on all the others, and held
beside the analytical model alone and beside what one would know who had every launch measured on the other devices and
needed but one factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from model.training.boosting import Boosting, grow
from model.training.few_rows import expected_errors, likeness
from model.training.figures import rank_correlation
from model.training.public_rows import FOLDS, Floats, Mask, Measured, Words

MEASURED_ROWS = 10
DRAWS = 5  # times that these are drawn; figures are means
OTHER_MAKER = 0.05  # weight of rows of another maker's GPUs: other compilers
RECIPE = Boosting(rounds=150, learning_rate=0.1, num_leaves=16, max_depth=8, feature_fraction=0.25, num_threads=1)
MOST_SEEN = 500  # rows of one family and device that trees are grown on: more tell little more of other devices
LEAST_ROWS = 3  # of a family, to be a line of the table


class Method(StrEnum):
    ANALYTIC = "analytical model alone"
    ANALYTIC_OFFSET = "analytical model, one factor from 10 rows"
    OTHERS = "mean of the other devices, best factor"
    TREES = "trees, from the profile"
    NEW_KERNEL = "trees, the kernel unseen as well"
    FEW_ROWS = "trees and 10 rows"


@dataclass(frozen=True, slots=True)
class UnseenScore:
    """One line of the table. `noise_percent` is the median over rows that say theirs; `spearman` NaN where constant."""

    device: str
    family: str
    method: Method
    rows: int
    mape_percent: float
    median_ape_percent: float
    within_2x_percent: float
    spearman: float
    noise_percent: float


Predictions = Mapping[Method, list[Floats]]  # of all rows in microseconds, once for each draw; NaN where none is made


def evaluate(rows: Measured, recipe: Boosting = RECIPE, *, seed: int = 0) -> tuple[UnseenScore, ...]:
    """Return all lines, by device, family and method. The same for the same rows, recipe and seed."""
    found = predictions(rows, recipe, seed=seed)
    return tuple(_scores(rows, found))


def predictions(rows: Measured, recipe: Boosting = RECIPE, *, seed: int = 0) -> Predictions:
    trees = np.full(len(rows), np.nan)
    new_kernel = np.full(len(rows), np.nan)
    judged = _judged(rows)
    fold, kernel = rows.fold, rows.kernel
    for part in range(FOLDS):
        for maker in np.unique(rows.maker[judged & (fold == part)]):
            own = judged & (fold == part) & (rows.maker == maker)
            trees[own] = trees_us(rows.where(fold != part), rows.where(own), recipe)
            for name in np.unique(kernel[own]):
                asked = own & (kernel == name)
                new_kernel[asked] = trees_us(rows.where((fold != part) & (kernel != name)), rows.where(asked), recipe)
    drawn = [_drawn(rows, seed + draw) for draw in range(DRAWS)]
    return {
        Method.ANALYTIC: [rows.analytic_us],
        Method.ANALYTIC_OFFSET: [_with_offset(rows, rows.analytic_us, taken) for taken in drawn],
        Method.OTHERS: [others_us(rows)],
        Method.TREES: [trees],
        Method.NEW_KERNEL: [new_kernel],
        Method.FEW_ROWS: [_with_few(rows, trees, taken) for taken in drawn],
    }


def _judged(rows: Measured) -> Mask:
    """Rows of a family and device that make a line. The others are only learned from: no forest is grown for them."""
    return _of_group(rows) >= LEAST_ROWS


def trees_us(seen: Measured, asked: Measured, recipe: Boosting = RECIPE) -> Floats:
    """Return the times of `asked` by trees grown on `seen` [us], all on devices of one maker.

    Never below the roofline. The trees are grown on what the analytical model is off by.
    """
    seen = _thinned(seen)
    weight = np.where(seen.maker == asked.maker[0], 1.0, OTHER_MAKER) / np.sqrt(_of_group(seen))
    target = np.log(seen.runtime_us / seen.analytic_us)
    facts, questions = _inputs(seen), _inputs(asked)
    tells = np.ptp(facts, axis=0) > 0  # and is no NaN
    forest = grow(facts[:, tells], target.astype(np.float32), weight.astype(np.float32), recipe)
    return np.maximum(asked.analytic_us * np.exp(forest.predict(questions[:, tells])), asked.least_us)


def _thinned(rows: Measured) -> Measured:
    """At most MOST_SEEN of each family and device, evenly spread over their order."""
    kept = np.zeros(len(rows), bool)
    for group in np.unique(names := _groups(rows)):
        own = np.flatnonzero(names == group)
        kept[own[:: math.ceil(len(own) / MOST_SEEN)]] = True
    return rows.where(kept)


def _inputs(rows: Measured) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return times as shares of their total: a device is known by what it is short of, not by how fast it is."""
    total = rows.fact("analytic.total")[:, None]
    facts = rows.facts.astype(np.float64)
    are_times = [_is_time(name) for name in rows.fact_names]
    facts[:, are_times] = np.maximum(facts[:, are_times] - total, _LEAST_SHARE)
    return np.ascontiguousarray(facts, np.float32)


_LEAST_SHARE = -12.0  # log2: below, a resource plays no part


def _is_time(name: str) -> bool:
    return (name.startswith("analytic.") and name != "analytic.total") or (
        name.startswith("gpu.") and name.endswith("_us")
    )


def _of_group(rows: Measured) -> Floats:
    """Return how many rows there are of each one's family and device."""
    _, of, counts = np.unique(_groups(rows), return_inverse=True, return_counts=True)
    return counts[of].astype(np.float64)


def _groups(rows: Measured) -> Words:
    return np.char.add(np.char.add(rows.family, "|"), rows.device)


def others_us(rows: Measured) -> Floats:
    """For each launch the geometric mean over the other devices, times the factor that fits the left-out device best.

    The factor is the best one for each family, from all its rows on that very device: no prediction could know it.
    Devices that lack some launches are made comparable first. NaN for launches that no other device has.
    """
    found = np.full(len(rows), np.nan)
    for family in np.unique(rows.family):
        for device in np.unique(rows.device[rows.family == family]):
            own = (rows.family == family) & (rows.device == device)
            others = rows.where((rows.family == family) & (rows.device != device))
            means = _means(others)
            known = np.array([means.get(key, np.nan) for key in rows.key[own]])
            if np.isfinite(known).sum() >= LEAST_ROWS:
                found[own] = np.exp(known + np.nanmedian(np.log(rows.runtime_us[own]) - known))
    return found


def _means(rows: Measured, rounds: int = 20) -> dict[str, float]:
    """Of each launch the mean logarithm [us], after what each device is slower by as a whole is taken out."""
    if not len(rows):
        return {}
    keys, key = np.unique(rows.key, return_inverse=True)
    devices, device = np.unique(rows.device, return_inverse=True)
    times = np.log(rows.runtime_us)
    slower, mean = np.zeros(len(devices)), np.zeros(len(keys))
    for _ in range(rounds):
        mean = np.bincount(key, times - slower[device]) / np.bincount(key)
        slower = np.bincount(device, times - mean[key]) / np.bincount(device)
    return dict(zip(keys.tolist(), mean.tolist(), strict=True))


def _drawn(rows: Measured, seed: int) -> Mask:
    """MEASURED_ROWS of each device, whatever their family."""
    random, taken = np.random.default_rng(seed), np.zeros(len(rows), bool)
    for device in np.unique(rows.device[_judged(rows)]):
        own = np.flatnonzero(rows.device == device)
        taken[random.choice(own, min(MEASURED_ROWS, len(own) // 2), replace=False)] = True
    return taken


def _with_offset(rows: Measured, before_us: Floats, taken: Mask) -> Floats:
    """Return the median error of the rows that were measured, taken out of the others; these are NaN."""
    found = np.full(len(rows), np.nan)
    errors = np.log(rows.runtime_us / before_us)
    for device in np.unique(rows.device[taken]):
        own = rows.device == device
        found[own & ~taken] = before_us[own & ~taken] * np.exp(np.median(errors[own & taken]))
    return found


def _with_few(rows: Measured, before_us: Floats, taken: Mask) -> Floats:
    """Corrected by what the measured rows' errors say of launches like them; the measured ones are NaN."""
    found = np.full(len(rows), np.nan)
    errors = np.log(rows.runtime_us / before_us)
    at = [i for i, name in enumerate(rows.fact_names) if name.startswith(("launch.", "gpu."))]
    alike = likeness(rows.facts[:, at].astype(np.float64))
    for device in np.unique(rows.device[taken]):
        known, asked = (rows.device == device) & taken, (rows.device == device) & ~taken
        shift = expected_errors(alike[known], errors[known], alike[asked])
        found[asked] = np.maximum(before_us[asked] * np.exp(shift), rows.least_us[asked])
    return found


def _scores(rows: Measured, found: Predictions) -> Iterator[UnseenScore]:
    for device in np.unique(rows.device):
        for family in np.unique(rows.family[rows.device == device]):
            own = (rows.device == device) & (rows.family == family)
            noise = rows.noise_percent[own]
            noise_percent = float(np.nanmedian(noise)) if np.isfinite(noise).any() else float("nan")
            for method, draws in found.items():
                figures = [_figures(each[own], rows.runtime_us[own]) for each in draws]
                known = [each for each in figures if each is not None]
                if known:
                    count, mape, median_ape, within, rank = np.mean(known, 0).tolist()
                    yield UnseenScore(
                        device, family, method, round(count), mape, median_ape, within, rank, noise_percent
                    )


def _figures(predicted_us: Floats, measured_us: Floats) -> Sequence[float] | None:
    """Rows, MAPE, median APE, share within a factor of two [%], rank correlation; None for too few rows."""
    known = np.isfinite(predicted_us)
    if known.sum() < LEAST_ROWS:
        return None
    ratio = predicted_us[known] / measured_us[known]
    ape = 100 * np.abs(ratio - 1)
    within = 100 * float(np.mean((ratio < 2) & (ratio > 0.5)))
    rank = rank_correlation(predicted_us[known], measured_us[known])
    return float(known.sum()), float(ape.mean()), float(np.median(ape)), within, rank
