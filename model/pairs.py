"""Two versions of a launch predicted side by side: the ratio of their times, from which common errors cancel.

Whatever the analysis and the models misjudge in both versions alike drops out of the ratio of their predictions, so the
ratio is better known than either time. How much better depends on how alike the two are; `spread_octaves` says it by a
formula that was fitted on pairs of measured kernels (see the page on predictions for its figures).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.learned.estimate import estimate
from model.learned.question import ANALYTIC_FACT_NAMES, Answer, Question, analytic_facts
from model.prediction import Basis, ModelEstimate, Prediction, Quantiles, Ratio, Relative

_TOTAL = ANALYTIC_FACT_NAMES.index("total")
_RESOURCES = slice(ANALYTIC_FACT_NAMES.index("least") + 1, len(ANALYTIC_FACT_NAMES))
_LARGEST = 1000.0  # log2; nothing that is predicted comes near it


@dataclass(frozen=True, slots=True)
class PairSpread:
    """What adds to the error of a ratio [octaves], each in squares; an octave is a factor of two.

    `alike`: of any two versions, as compilers see more than the analysis counts; `places`: where the two count for
    different kernels, the part of it that the distance between their places says (see `_apart`); `ratio`: for each
    octave of the ratio itself; `resources`: for each unit of distance between the shares of time that resources take;
    `models`: for each octave by which the learned model's ratio differs from the analytical one.
    """

    alike: float
    places: float
    ratio: float
    resources: float
    models: float


# Fitted on pairs of validation families, so that four of five lie within; `model.training.pair_figures` judges them.
# `alike` is more than their 0.05: kernels of the generator that are counted alike are hardly ever compiled otherwise.
# In commits to repositories that the model was trained on, four of five changes that the analysis does not see take as
# much.
BY_THE_MODEL = PairSpread(alike=0.12, places=0.61, ratio=0.0, resources=1.23, models=0.47)
ANALYTIC = PairSpread(alike=0.67, places=0.0, ratio=0.26, resources=2.6, models=0.0)
# From this distance between places on, errors of two kernels have no more in common.
FARTHEST = 0.3


@dataclass(frozen=True, slots=True)
class Side:
    """What is predicted of one version.

    `runtime_us` is the model's own p50, before measurements of other kernels correct it. `below` and `above` are the
    ways to p10 and p90 [octaves], `analytic` is the analytical time [log2 us] and `shares` each resource's part of it.
    `doubt` is the part of the interval [octaves] that assumptions add. `place` is where the launch lies among all, as
    in `Answer`; empty where no model was asked.
    """

    runtime_us: float
    below: float
    above: float
    analytic: float
    shares: tuple[float, ...]
    doubt: float
    basis: Basis
    place: tuple[float, ...] = ()


def answered_side(question: Question, answer: Answer) -> Side:
    """Return what the model says of the launch that it was asked about."""
    return _side(estimate(question, answer), question.analytic_facts, question.doubt, answer.place)


def predicted_side(prediction: Prediction, doubt: float = 0.0) -> Side | None:
    """Return what the models say of a launch; None where the analytical model did not price it.

    `doubt` as in `Question`: the logarithm of the factor that assumptions add to the interval.
    """
    if prediction.analytic_times is None:
        return None
    return _side(prediction.own, analytic_facts(prediction.analytic_times), doubt)


def _side(said: ModelEstimate, analytic: tuple[float, ...], doubt: float, place: tuple[float, ...] = ()) -> Side:
    q = said.runtime_us
    times = [2.0**each for each in analytic[_RESOURCES]]
    whole = sum(times) or 1.0
    return Side(
        runtime_us=said.uncorrected_us or q.p50,
        below=_octaves(q.p50, q.p10),
        above=_octaves(q.p90, q.p50),
        analytic=analytic[_TOTAL],
        shares=tuple(each / whole for each in times),
        doubt=doubt / math.log(2),
        basis=said.basis,
        place=place,
    )


def ratio_of(new: Side, old: Side) -> Ratio:
    """Return the ratio of the two versions' times on one device, both predicted by the same analysis and model."""
    middle = _octaves(new.runtime_us, old.runtime_us)
    spread = spread_octaves(new, old)
    # Two unrelated predictions are the worst that two versions can be.
    down = min(spread, math.hypot(new.below, old.above))
    up = min(spread, math.hypot(new.above, old.below))
    return Ratio(2.0 ** (middle - down), 2.0**middle, 2.0 ** (middle + up))


def unrelated_ratio(new_us: Quantiles, old_us: Quantiles) -> Ratio:
    """Return the ratio of two times whose errors have nothing in common, such as those of two devices."""
    middle = _octaves(new_us.p50, old_us.p50)
    down = math.hypot(_octaves(new_us.p50, new_us.p10), _octaves(old_us.p90, old_us.p50))
    up = math.hypot(_octaves(new_us.p90, new_us.p50), _octaves(old_us.p50, old_us.p10))
    return Ratio(2.0 ** (middle - down), 2.0**middle, 2.0 ** (middle + up))


def relative_to(ratio: Ratio, measured_us: float, noise: float, measured_at: str, least_us: float) -> Relative:
    """Return the time of a new version where the old one was measured at `measured_us`.

    `noise` is half of the measurement's 95 % interval, as a part of it; `least_us` is what no version of this launch
    may take less than.
    """
    wider = (
        2.0 ** -math.hypot(_octaves(ratio.p50, ratio.p10), math.log2(1 + noise)),
        (2.0 ** math.hypot(_octaves(ratio.p90, ratio.p50), math.log2(1 + noise))),
    )
    around = Ratio(ratio.p50 * wider[0], ratio.p50, ratio.p50 * wider[1])
    return Relative(around.of(measured_us).at_least(least_us), ratio, measured_us, measured_at)


def spread_octaves(new: Side, old: Side) -> float:
    """Return the way from the ratio's p50 to its p90 [octaves]: four of five pairs are off by no more."""
    by = ANALYTIC if Basis.ANALYTIC in (new.basis, old.basis) else BY_THE_MODEL
    ratio, analytic_ratio = _octaves(new.runtime_us, old.runtime_us), new.analytic - old.analytic
    # What both assume is the same; what one of them assumes beyond the other is not.
    doubt = math.sqrt(abs(new.doubt**2 - old.doubt**2))
    return math.hypot(
        by.alike,
        by.places * _apart(new, old),
        by.ratio * ratio,
        by.resources * math.dist(new.shares, old.shares),
        by.models * (ratio - analytic_ratio),
        doubt,
    )


def _apart(new: Side, old: Side) -> float:
    """Return how far apart the versions are counted, from 0 to 1; 1 where it is not known."""
    if not new.place or len(new.place) != len(old.place):
        return 1.0
    return min(1.0, math.dist(new.place, old.place) / FARTHEST)


def _octaves(high: float, low: float) -> float:
    if not (0 < high < math.inf and 0 < low < math.inf):
        return 0.0 if high == low else math.copysign(_LARGEST, high - low)
    return math.log2(high / low)
