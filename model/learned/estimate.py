"""The learned model's answer as a part of a prediction: in order, finite, and wider by all that had to be assumed."""

from __future__ import annotations

import math

from model.learned.question import Answer, Question
from model.prediction import Basis, ModelEstimate, Quantiles


def estimate(question: Question, answer: Answer) -> ModelEstimate:
    """Return what `answer` says of the launch that `question` is about.

    Where the model was not trained, the answer is the analytical model's, corrected by what was measured there.
    """
    runtime_us, is_corrected = _quantiles(answer.runtime_us, question), answer.is_corrected
    own_us = max(answer.uncorrected_us, question.least_us) if 0 < answer.uncorrected_us < _LONGEST_US else 0.0
    if question.analytic_alone is not None:
        return ModelEstimate(
            runtime_us, Basis.ANALYTIC, by_lessons=True, is_corrected=is_corrected, uncorrected_us=own_us
        )
    basis = Basis.MODEL if question.compiled_facts is None else Basis.COMPILED
    return ModelEstimate(runtime_us, basis, answer.novelty, is_corrected=is_corrected, uncorrected_us=own_us)


def _quantiles(q: Quantiles, question: Question) -> Quantiles:
    """Widen by the question's doubt.

    Doubts are independent of the model's own, so their logarithms add in squares.
    """
    middle_us = min(q.p50, _LONGEST_US) if math.isfinite(q.p50) and q.p50 > 0 else question.total_us
    down, up = (
        math.hypot(each, question.doubt) for each in (_log_ratio(middle_us, q.p10), _log_ratio(q.p90, middle_us))
    )
    around = Quantiles(middle_us * math.exp(-min(down, _MOST)), middle_us, middle_us * math.exp(min(up, _MOST)))
    return around.at_least(question.least_us)


def _log_ratio(high_us: float, low_us: float) -> float:
    """Return at least 0; the most there is where one of them is no time."""
    if not (math.isfinite(high_us) and math.isfinite(low_us) and low_us > 0):
        return _MOST
    return min(max(math.log(max(high_us, low_us) / low_us), 0.0), _MOST)


_LONGEST_US = 1e30
_MOST = 20.0  # the logarithm of a factor at which an interval says nothing any more
