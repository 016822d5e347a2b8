"""What measurements on a device say of the model's errors there, and answers corrected by it: no training anew.

Kernels that are alike are off alike, those that the same resources hold up a little so, and a device as a whole may be,
too: a Gaussian process with a part for each (Rasmussen & Williams, 2006, chapter 2). What differs from kernel to kernel
is its noise, with Student's long tails: a kernel or two that are far off say nothing of others (Jylanki et al., "Robust
Gaussian process regression with a Student-t likelihood", 2011; here by reweighting).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.law_facts import LAW_FACT_NAMES
from model.learned.question import Answer, Question
from model.prediction import Quantiles

Floats = npt.NDArray[np.float64]
# Natural logarithms: how much errors vary from device to device, with what bounds a launch, among kernels that are
# alike, and from kernel to kernel. Found on families and packages that the model was not trained on.
CALIBRATED_DEVIATION, DEVICE_DEVIATION = 0.12, 0.5
BOUND_DEVIATION, ALIKE_DEVIATION, KERNEL_DEVIATION = 0.1, 0.4, 0.4
REACH = 0.35  # distance between shares of time at which errors are no longer alike; between places it is 1
TAILS = 2.0  # degrees of freedom
FEWEST_TO_JUDGE = 20  # kernels, from which on a correction has to prove that it helps
MOST_ERROR = 2.0  # a kernel that is off by more says no more than this
_ROUNDS = 20
_RESOURCES = slice(LAW_FACT_NAMES.index("least") + 1, len(LAW_FACT_NAMES))
_CALIBRATED = DEVICE_FACT_NAMES.index("shape.calibrated")


@dataclass(frozen=True, slots=True)
class Experience:
    """A launch that was measured, and what the model by itself answers of it."""

    question: Question
    answer: Answer
    measured_us: float


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """What tells launches alike: `shares` [n, resources] of the laws' time, `places` [n, dimensions] as in `Answer`."""

    shares: Floats
    places: Floats

    def at(self, chosen: npt.NDArray[np.generic]) -> Launches:
        return Launches(self.shares[chosen], self.places[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Of one device and driver: `kernels` [n], `errors` [n] ln of measured over predicted, `noise` [n] their variance.

    `device` is how far the device as a whole may be off. One that does not help is not used.
    """

    kernels: tuple[str, ...]
    launches: Launches
    errors: Floats
    noise: Floats
    device: float
    is_used: bool = True

    @classmethod
    def fitted(cls, experiences: Sequence[Experience]) -> Correction:
        known = [each for each in experiences if each.measured_us > 0 and each.answer.runtime_us.p50 > 0]
        ratios = [each.measured_us / each.answer.runtime_us.p50 for each in known]
        launches = _launches([(each.question, each.answer) for each in known])
        calibrated = any(each.question.device_facts[_CALIBRATED : _CALIBRATED + 1] == (1.0,) for each in known)
        found = correction_of(
            [each.question.kernel for each in known], launches, np.log(np.array(ratios, np.float64)), calibrated
        )
        return replace(found, is_used=helps(found))

    def applied(self, question: Question, answer: Answer) -> Answer:
        """The answer, shifted by how far the model is off on other kernels here, and no more than they can prove.

        What was measured of the very kernel is left out: its own line goes through that, and a measurement is held
        against what was said without it.
        """
        if not self.is_used or not set(self.kernels) - {question.kernel}:
            return answer
        own = question.kernel if question.kernel in self.kernels else ""
        factor = float(np.exp(self.shifts(_launches([(question, answer)]), own)[0]))
        q = answer.runtime_us
        return replace(answer, runtime_us=Quantiles(q.p10 * factor, q.p50 * factor, q.p90 * factor))

    def shifts(self, new: Launches, left_out: str = "") -> Floats:
        """What to add to ln of the answers at `new`, from all kernels but `left_out`."""
        others = np.array([kernel != left_out for kernel in self.kernels], bool)
        found: Floats = _alike(new, self.launches.at(others), self.device) @ _weights(self, left_out)
        return found


def correction_of(kernels: Sequence[str], launches: Launches, errors: Floats, is_calibrated: bool) -> Correction:
    """From measurements [n]. Launches of one kernel are off alike: each counts as much less as there are more."""
    device = CALIBRATED_DEVIATION if is_calibrated else DEVICE_DEVIATION
    off = np.clip(errors, -MOST_ERROR, MOST_ERROR)
    _, place, count = np.unique(np.array(kernels, np.str_), return_inverse=True, return_counts=True)
    usual = KERNEL_DEVIATION**2 * count[place]
    alike, noise = _alike(launches, launches, device), usual.astype(np.float64)
    for _ in range(_ROUNDS if len(off) else 0):
        left = noise * np.linalg.solve(alike + np.diag(noise), off)  # what the process leaves to the kernels
        noise = np.asarray(usual * (TAILS + left**2 / KERNEL_DEVIATION**2) / (TAILS + 1))
    return Correction(tuple(kernels), launches, off, noise, device)


@lru_cache(256)
def _weights(correction: Correction, left_out: str) -> Floats:
    others = np.array([kernel != left_out for kernel in correction.kernels], bool)
    seen = correction.launches.at(others)
    covariance = _alike(seen, seen, correction.device) + np.diag(correction.noise[others])
    found: Floats = np.linalg.solve(covariance, correction.errors[others])
    return found


def left_out_errors(correction: Correction) -> Floats:
    """What stays of each error [n] when its kernel is left out of what the others teach: ln of measured over predicted.

    In closed form (Rasmussen & Williams, 2006, section 5.4.2), for all launches of a kernel together.
    """
    count = len(correction.errors)
    covariance = _alike(correction.launches, correction.launches, correction.device) + np.diag(correction.noise)
    inverse = np.linalg.inv(covariance) if count else covariance
    weights, left = inverse @ correction.errors, np.zeros(count)
    kernels = np.array(correction.kernels, np.str_)
    for kernel in np.unique(kernels):
        own = np.flatnonzero(kernels == kernel)
        left[own] = np.linalg.solve(inverse[np.ix_(own, own)], weights[own])
    return left


def helps(correction: Correction) -> bool:
    """Say whether what was measured makes kernels that were left out more exact; of few kernels that is assumed."""
    if len(set(correction.kernels)) < FEWEST_TO_JUDGE:
        return True
    return bool(np.abs(left_out_errors(correction)).mean() < np.abs(correction.errors).mean())


def shares_of(laws: Floats) -> Floats:
    """[rows, law facts], log2 us -> [rows, resources]: each resource's part of their sum."""
    times = np.exp2(laws[:, _RESOURCES])
    found: Floats = times / np.maximum(times.sum(axis=1, keepdims=True), 1e-30)
    return found


def _launches(known: Sequence[tuple[Question, Answer]]) -> Launches:
    laws = np.array([question.law_facts for question, _ in known], np.float64).reshape(-1, len(LAW_FACT_NAMES))
    places = np.array([answer.place for _, answer in known], np.float64)
    return Launches(shares_of(laws), places.reshape(len(known), len(known[0][1].place) if known else 0))


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
