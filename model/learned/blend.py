"""Combine an analytical prediction and the learned model's output for the same input into one prediction."""

from __future__ import annotations

import math
from dataclasses import replace

from model.bounds import within_bounds
from model.learned.question import Answer, Question
from model.prediction import Basis, Prediction, Quantiles, retimed


def blended(prediction: Prediction, question: Question, answer: Answer) -> Prediction:
    """`prediction` with the answer's time: wider by all that had to be assumed, and within its bounds.

    The work stays what was counted, and the analytical model's account is brought to the new time. A prediction
    through measurements stays what it is, and carries the answer as the model's own. Where the model was not trained,
    the answer is the analytical model's, corrected by what was measured.
    """
    runtime_us = _quantiles(answer.runtime_us, question)
    if question.by_the_laws is not None:
        corrected = with_own(prediction, runtime_us, Basis.ANALYTIC, None)
        return replace(corrected, by_lessons=True, is_corrected=answer.is_corrected)
    basis = Basis.MODEL if question.compiled_facts is None else Basis.COMPILED
    return replace(with_own(prediction, runtime_us, basis, answer.novelty), is_corrected=answer.is_corrected)


def with_own(prediction: Prediction, runtime_us: Quantiles, basis: Basis, novelty: float | None) -> Prediction:
    """`prediction` where the model says this by itself, whatever was measured of other launches.

    Within the bounds of the launch that it is about, whichever launch the answer was made for.
    """
    runtime_us = within_bounds(runtime_us, prediction.floor_us)
    if prediction.through is not None:
        through = replace(prediction.through, own_us=runtime_us, own_basis=basis)
        return replace(prediction, through=through, novelty=novelty)
    return retimed(prediction, runtime_us, basis, novelty=novelty)


def _quantiles(q: Quantiles, question: Question) -> Quantiles:
    """Wider by the question's doubt; in order and finite.

    Doubts are independent of the model's own, so their logarithms add in squares.
    """
    middle_us = min(q.p50, _LONGEST_US) if math.isfinite(q.p50) and q.p50 > 0 else question.total_us
    down, up = (
        math.hypot(each, question.doubt) for each in (_log_ratio(middle_us, q.p10), _log_ratio(q.p90, middle_us))
    )
    around = Quantiles(middle_us * math.exp(-min(down, _MOST)), middle_us, middle_us * math.exp(min(up, _MOST)))
    return within_bounds(around, question.least_us)


def _log_ratio(high_us: float, low_us: float) -> float:
    """At least 0; the most there is where one of them is no time."""
    if not (math.isfinite(high_us) and math.isfinite(low_us) and low_us > 0):
        return _MOST
    return min(max(math.log(max(high_us, low_us) / low_us), 0.0), _MOST)


_LONGEST_US = 1e30
_MOST = 20.0  # the logarithm of a factor at which an interval says nothing any more
