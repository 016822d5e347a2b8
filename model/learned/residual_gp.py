"""What measurements on a device say of the model's errors there, and answers corrected by it: no training anew.

Kernels that are alike are off alike, those that the same resources hold up a little so, and a device as a whole may be,
too: a Gaussian process with a part for each (Rasmussen & Williams, 2006, chapter 2). What differs from kernel to kernel
is its noise, with Student's long tails: a kernel or two that are far off say nothing of others (Jylanki et al., "Robust
Gaussian process regression with a Student-t likelihood", 2011; here by reweighting).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES, Answer, Question
from model.prediction import Quantiles

Floats = npt.NDArray[np.float64]
# Natural logarithms: how much errors vary from device to device, with what bounds a launch, among kernels that are
# alike, and from kernel to kernel. Found on families and packages that the model was not trained on.
CALIBRATED_DEVIATION, DEVICE_DEVIATION = 0.12, 0.5
# What is tried of the first once a device has to prove itself: some are shared, or of a kind never seen, and far off.
DEVIATIONS_TRIED = (CALIBRATED_DEVIATION, 0.25, DEVICE_DEVIATION)
BOUND_DEVIATION, ALIKE_DEVIATION, KERNEL_DEVIATION = 0.1, 0.4, 0.4
REACH = 0.35  # distance between shares of time at which errors are no longer alike; between places it is 1
TAILS = 2.0  # degrees of freedom
FEWEST_TO_JUDGE = 20  # kernels, from which on a correction has to prove that it helps
COVERED = 0.8  # share of launches that are to lie within p10 to p90
# By how much intervals are stretched. They never become narrower: programs are further off than the kernels that a
# device is learned from, and where those alone said so, intervals of programs covered 2 to 4 points less.
NARROWEST, WIDEST = 1.0, 4.0
_KERNELS_HALFWAY = 20.0  # at which an interval is halfway, in the logarithm, between the model's and what was measured
_LEAST_WIDTH = 0.02  # of an interval that is held against measurements: clocks are not more exact
MOST_ERROR = 2.0  # a kernel that is off by more says no more than this
_ROUNDS, _SETTLED = 20, 0.01
_RESOURCES = slice(ANALYTIC_FACT_NAMES.index("least") + 1, len(ANALYTIC_FACT_NAMES))
_CALIBRATED = DEVICE_FACT_NAMES.index("shape.calibrated")


@dataclass(frozen=True, slots=True)
class Experience:
    """A launch that was measured, and what the model by itself answers of it.

    `group` names what it is left out with to judge what others teach of it: its family; "" where that is its kernel.
    """

    question: Question
    answer: Answer
    measured_us: float
    group: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """What tells launches alike: `shares` [n, resources] of the analytical time, `places` [n, dimensions]."""

    shares: Floats
    places: Floats

    def at(self, chosen: npt.NDArray[np.generic]) -> Launches:
        return Launches(self.shares[chosen], self.places[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Of one device and driver: `kernels` [n], `errors` [n] ln of measured over predicted, `noise` [n] their variance.

    `device` is how far the device as a whole may be off. `groups` [n] are left out together to judge it: one that does
    not help is not used. Intervals become `stretch` times as wide, in the logarithm.
    """

    kernels: tuple[str, ...]
    launches: Launches
    errors: Floats
    noise: Floats
    device: float
    groups: tuple[str, ...]
    is_used: bool = True
    stretch: float = 1.0

    @classmethod
    def fitted(cls, experiences: Sequence[Experience]) -> Correction:
        known = [each for each in experiences if each.measured_us > 0 and each.answer.runtime_us.p50 > 0]
        ratios = [each.measured_us / each.answer.runtime_us.p50 for each in known]
        launches = _launches([(each.question, each.answer) for each in known])
        calibrated = any(each.question.device_facts[_CALIBRATED : _CALIBRATED + 1] == (1.0,) for each in known)
        errors, kernels = np.log(np.array(ratios, np.float64)), [each.question.kernel for each in known]
        groups = [each.group or each.question.kernel for each in known]
        if len(set(kernels)) < FEWEST_TO_JUDGE:
            found = correction_of(kernels, launches, errors, calibrated, groups)
            # How alike errors are was found on devices that the model was trained for: elsewhere it has to be proved.
            return replace(found, is_used=all(each.question.analytic_alone is None for each in known))
        tried = {each: correction_of(kernels, launches, errors, calibrated, groups, each) for each in DEVIATIONS_TRIED}
        left_by = {each: left_out_errors(one) for each, one in tried.items()}
        best = min(DEVIATIONS_TRIED, key=lambda each: float(np.abs(left_by[each]).mean()))
        found, left = tried[best], left_by[best]
        is_used = helps(found.errors, left)
        stretch = stretch_of(left if is_used else found.errors, _widths(known), len(set(found.groups)))
        return replace(found, is_used=is_used, stretch=stretch)

    def applied(self, question: Question, answer: Answer) -> Answer:
        """Return the answer, shifted by the model's error on other kernels here, as far as they prove it.

        Measurements of the kernel itself are excluded: its own fit goes through those, and a measurement is compared
        with a prediction made without it.
        """
        if not set(self.kernels) - {question.kernel}:
            return answer
        factor = 1.0
        if self.is_used:
            own = question.kernel if question.kernel in self.kernels else ""
            factor = float(np.exp(self.shifts(_launches([(question, answer)]), own)[0]))
        q = answer.runtime_us
        before_us = q.p50 if self.is_used else 0.0
        moved = _moved(q, factor, self.stretch)
        return replace(answer, runtime_us=moved, is_corrected=self.is_used, uncorrected_us=before_us)

    def shifts(self, new: Launches, left_out: str = "") -> Floats:
        """Return what to add to ln of the answers at `new`, from all kernels but `left_out`."""
        others = np.array([kernel != left_out for kernel in self.kernels], bool)
        found: Floats = _alike(new, self.launches.at(others), self.device) @ _weights(self, left_out)
        return found


def correction_of(
    kernels: Sequence[str],
    launches: Launches,
    errors: Floats,
    is_calibrated: bool,
    groups: Sequence[str] = (),
    deviation: float | None = None,
) -> Correction:
    """From measurements [n]. Launches of one kernel are off alike: each counts as much less as there are more.

    `deviation` is how far the device as a whole may be off; None: as usual with such devices.
    """
    device = deviation or (CALIBRATED_DEVIATION if is_calibrated else DEVICE_DEVIATION)
    off = np.clip(errors, -MOST_ERROR, MOST_ERROR)
    _, place, count = np.unique(np.array(kernels, np.str_), return_inverse=True, return_counts=True)
    usual = KERNEL_DEVIATION**2 * count[place]
    alike, noise = _alike(launches, launches, device), usual.astype(np.float64)
    for _ in range(_ROUNDS if len(off) else 0):
        left = noise * np.linalg.solve(alike + np.diag(noise), off)  # what the process leaves to the kernels
        before, noise = noise, np.asarray(usual * (TAILS + left**2 / KERNEL_DEVIATION**2) / (TAILS + 1))
        if np.abs(noise / before - 1).max() < _SETTLED:
            break
    return Correction(tuple(kernels), launches, off, noise, device, tuple(groups or kernels))


@lru_cache(256)
def _weights(correction: Correction, left_out: str) -> Floats:
    others = np.array([kernel != left_out for kernel in correction.kernels], bool)
    seen = correction.launches.at(others)
    covariance = _alike(seen, seen, correction.device) + np.diag(correction.noise[others])
    found: Floats = np.linalg.solve(covariance, correction.errors[others])
    return found


def left_out_errors(correction: Correction) -> Floats:
    """Return the error [n] that remains when its group is left out: ln of measured over predicted.

    In closed form (Rasmussen & Williams, 2006, section 5.4.2), for all launches of a group together.
    """
    count = len(correction.errors)
    covariance = _alike(correction.launches, correction.launches, correction.device) + np.diag(correction.noise)
    inverse = np.linalg.inv(covariance) if count else covariance
    weights, left = inverse @ correction.errors, np.zeros(count)
    groups = np.array(correction.groups, np.str_)
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        left[own] = np.linalg.solve(inverse[np.ix_(own, own)], weights[own])
    return left


def helps(errors: Floats, left: Floats) -> bool:
    """Say whether a correction leaves less of the errors [n], in the middle and on the average.

    The middle alone falls by chance where errors are of two kinds; the average alone, where a few are far off.
    """
    before, after = np.abs(errors), np.abs(left)
    return bool(np.median(after) < np.median(before) and after.mean() < before.mean())


def stretch_of(errors: Floats, widths: Floats, groups: int) -> float:
    """Return the factor that puts four of five errors [n] within the intervals of `widths` [n, below and above].

    Split conformal prediction (Angelopoulos & Bates, arXiv 2107.07511) on what was left out; nearer to no change the
    fewer groups there are.
    """
    widths = np.maximum(widths, _LEAST_WIDTH)
    scores = np.where(errors > 0, errors / widths[:, 1], -errors / widths[:, 0])
    found = np.quantile(scores, min(1.0, COVERED * (1 + 1 / groups)))
    shrunk = np.log(max(found, 1e-9)) * groups / (groups + _KERNELS_HALFWAY)
    return float(np.clip(np.exp(shrunk), NARROWEST, WIDEST))


def _moved(q: Quantiles, factor: float, stretch: float) -> Quantiles:
    if q.p10 <= 0:
        return Quantiles(q.p10 * factor, q.p50 * factor, q.p90 * factor)
    middle_us = q.p50 * factor
    return Quantiles(middle_us * (q.p10 / q.p50) ** stretch, middle_us, middle_us * (q.p90 / q.p50) ** stretch)


def _widths(known: Sequence[Experience]) -> Floats:
    """[n, below and above], ln: of the answers, with what their assumptions add."""
    found = []
    for each in known:
        q, doubt = each.answer.runtime_us, each.question.doubt
        below, above = (math.log(high / low) if low > 0 else 0.0 for high, low in ((q.p50, q.p10), (q.p90, q.p50)))
        found.append((math.hypot(below, doubt), math.hypot(above, doubt)))
    return np.array(found, np.float64)


def shares_of(analytic: Floats) -> Floats:
    """[rows, analytic facts], log2 us -> [rows, resources]: each resource's part of their sum."""
    times = np.exp2(analytic[:, _RESOURCES])
    found: Floats = times / np.maximum(times.sum(axis=1, keepdims=True), 1e-30)
    return found


def _launches(known: Sequence[tuple[Question, Answer]]) -> Launches:
    analytic = np.array([question.analytic_facts for question, _ in known], np.float64).reshape(
        -1, len(ANALYTIC_FACT_NAMES)
    )
    places = np.array([answer.place for _, answer in known], np.float64)
    return Launches(shares_of(analytic), places.reshape(len(known), len(known[0][1].place) if known else 0))


def _alike(a: Launches, b: Launches, device: float) -> Floats:
    """Covariance of errors, [rows of a, rows of b]. Where models tell no places, none are known to be alike."""
    found: Floats = device**2 + BOUND_DEVIATION**2 * np.exp(-_squares(a.shares, b.shares) / (2 * REACH**2))
    if a.places.shape[1]:
        found += ALIKE_DEVIATION**2 * np.exp(-_squares(a.places, b.places) / 2)
    return found


def _squares(a: Floats, b: Floats) -> Floats:
    """[rows of a, dimensions], [rows of b, dimensions] -> [rows of a, rows of b]."""
    own = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :]
    found: Floats = np.maximum(own - 2 * a @ b.T, 0)
    return found
