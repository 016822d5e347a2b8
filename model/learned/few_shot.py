"""What measurements on a device say of the model's errors there, and answers corrected by it: no training anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from model.learned.question import Answer, Question
from model.prediction import Quantiles

_SHRINKS = 4  # measurements at which half of what they say is believed


@dataclass(frozen=True, slots=True)
class Experience:
    """A launch that was measured, and what the model by itself answers of it."""

    question: Question
    answer: Answer
    measured_us: float


@dataclass(frozen=True, slots=True)
class Correction:
    """Of one device and driver. `errors` are (kernel, logarithm of measured over predicted)."""

    errors: tuple[tuple[str, float], ...] = ()

    @classmethod
    def fitted(cls, experiences: Sequence[Experience]) -> Correction:
        return cls(
            tuple(
                (each.question.kernel, math.log(each.measured_us / each.answer.runtime_us.p50))
                for each in experiences
                if each.measured_us > 0 and each.answer.runtime_us.p50 > 0
            )
        )

    def applied(self, question: Question, answer: Answer) -> Answer:
        """The answer, shifted by how far the model is off on other kernels here, and no more than they can prove.

        What was measured of the very kernel is left out: its own line goes through that, and a measurement is held
        against what was said without it.
        """
        errors = [error for kernel, error in self.errors if kernel != question.kernel]
        if not errors:
            return answer
        factor = math.exp(median(errors) * len(errors) / (len(errors) + _SHRINKS))
        q = answer.runtime_us
        return replace(answer, runtime_us=Quantiles(q.p10 * factor, q.p50 * factor, q.p90 * factor))
