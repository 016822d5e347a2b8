"""What measurements on a device say of the model's errors there, and answers corrected by it: no training anew.

Errors are a smooth function of what a launch's time is made of: kernels that the same resources hold up are off alike.
A Gaussian process with a constant part (the device as a whole) and a local one, whose noise is what differs from kernel
to kernel; with few measurements it says little (Rasmussen & Williams, 2006, chapter 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from model.learned.law_facts import LAW_FACT_NAMES
from model.learned.question import Answer, Question
from model.prediction import Quantiles

Floats = npt.NDArray[np.float64]
# Natural logarithms: how much errors vary from device to device, with what bounds a launch, and from kernel to kernel.
DEVICE_DEVIATION, BOUND_DEVIATION, KERNEL_DEVIATION = 0.6, 0.35, 0.5
REACH = 0.35  # distance between shares of time at which errors are no longer alike
MOST_ERROR = 2.0  # a kernel that is off by more says no more than this
_RESOURCES = slice(LAW_FACT_NAMES.index("least") + 1, len(LAW_FACT_NAMES))


@dataclass(frozen=True, slots=True)
class Experience:
    """A launch that was measured, and what the model by itself answers of it."""

    question: Question
    answer: Answer
    measured_us: float


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Of one device and driver: `kernels` [n], `shares` [n, resources], `errors` [n] ln of measured over predicted."""

    kernels: tuple[str, ...]
    shares: Floats
    errors: Floats

    @classmethod
    def fitted(cls, experiences: Sequence[Experience]) -> Correction:
        known = [each for each in experiences if each.measured_us > 0 and each.answer.runtime_us.p50 > 0]
        laws = np.array([each.question.law_facts for each in known], np.float64).reshape(-1, len(LAW_FACT_NAMES))
        ratios = [each.measured_us / each.answer.runtime_us.p50 for each in known]
        return cls(tuple(each.question.kernel for each in known), shares_of(laws), np.log(np.array(ratios, np.float64)))

    def applied(self, question: Question, answer: Answer) -> Answer:
        """The answer, shifted by how far the model is off on other kernels here, and no more than they can prove.

        What was measured of the very kernel is left out: its own line goes through that, and a measurement is held
        against what was said without it.
        """
        others = np.array([kernel != question.kernel for kernel in self.kernels], bool)
        if not others.any():
            return answer
        here = shares_of(np.array([question.law_facts], np.float64))
        factor = float(np.exp(shifts(self.kernels, self.shares, self.errors, others, here)[0]))
        q = answer.runtime_us
        return replace(answer, runtime_us=Quantiles(q.p10 * factor, q.p50 * factor, q.p90 * factor))


def shares_of(laws: Floats) -> Floats:
    """[rows, law facts], log2 us -> [rows, resources]: each resource's part of their sum."""
    times = np.exp2(laws[:, _RESOURCES])
    found: Floats = times / np.maximum(times.sum(axis=1, keepdims=True), 1e-30)
    return found


def shifts(
    kernels: Sequence[str], shares: Floats, errors: Floats, chosen: npt.NDArray[np.bool_], new: Floats
) -> Floats:
    """What to add to ln of the answers at `new` [rows, resources], from the chosen ones of [n] measurements.

    Launches of one kernel are off alike: each counts as much less as there are more of them.
    """
    seen, off = shares[chosen], np.clip(errors[chosen], -MOST_ERROR, MOST_ERROR)
    names = np.array(kernels)[chosen]
    _, place, count = np.unique(names, return_inverse=True, return_counts=True)
    noise = KERNEL_DEVIATION**2 * count[place]
    weights = np.linalg.solve(_alike(seen, seen) + np.diag(noise), off)
    found: Floats = _alike(new, seen) @ weights
    return found


def _alike(a: Floats, b: Floats) -> Floats:
    """Covariance of errors, [rows of a, rows of b]."""
    squares = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    found: Floats = DEVICE_DEVIATION**2 + BOUND_DEVIATION**2 * np.exp(-squares / (2 * REACH**2))
    return found
