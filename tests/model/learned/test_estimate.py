"""The learned model's answer becomes a part of a prediction, which keeps what the analytical model knows."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.learned.estimate import estimate
from model.learned.question import Answer, Question
from model.measured import Sample
from model.prediction import Basis, Prediction, Quantiles
from model.predictor import LateInputs, Predictor

SCALE = "// kernelcast: global=65536 local=64 n=65536\n" + (
    "__kernel void scale(__global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"
)


def forecast() -> Forecast:
    device = find_builtin("generic-cpu")
    assert device is not None
    (found,) = Engine(asks=True).forecast(SCALE, None, device).forecasts
    return found


FORECAST = forecast()


def parts() -> tuple[Prediction, Question]:
    assert FORECAST.prediction is not None
    assert FORECAST.question is not None
    return FORECAST.prediction, FORECAST.question


def blended(analytic: Prediction, question: Question, answer: Answer) -> Prediction:
    return replace(analytic, learned=estimate(question, answer))


def around(p50: float, factor: float = 1.5) -> Answer:
    return Answer(Quantiles(p50 / factor, p50, p50 * factor), 0.3)


def test_the_models_time_replaces_the_analytical_model_and_keeps_what_they_explain() -> None:
    analytic, question = parts()
    found = blended(analytic, question, around(3 * analytic.runtime_us.p50))
    assert found.runtime_us.p50 == 3 * analytic.runtime_us.p50
    assert found.basis is Basis.MODEL
    assert found.novelty == 0.3
    assert (found.work, found.line_costs, found.bound, found.analytic_times) == (
        analytic.work,
        analytic.line_costs,
        analytic.bound,
        analytic.analytic_times,
    )
    assert sum(each.time_us for each in found.resources) == pytest.approx(found.runtime_us.p50)
    floor_us = {each.resource: each.time_us for each in analytic.resources}["launch floor"]
    assert {each.resource: each.time_us for each in found.resources}["launch floor"] == pytest.approx(floor_us)


def test_what_the_model_adds_beyond_all_inefficiency_is_not_put_down_to_a_resource() -> None:
    analytic, question = parts()
    found = blended(analytic, question, around(40 * analytic.runtime_us.p50))
    assert found.resources[0].resource == "other"
    assert sum(each.share for each in found.resources) == pytest.approx(1)
    assert sum(each.share for each in found.lines) == pytest.approx(1)
    assert found.bound is analytic.bound


def test_with_compiled_facts_the_basis_says_so() -> None:
    analytic, question = parts()
    assert blended(analytic, replace(question, compiled_facts=(1.0,)), around(100.0)).basis is Basis.COMPILED


def test_what_had_to_be_assumed_widens_the_interval() -> None:
    analytic, question = parts()
    answer = around(1000 * question.least_us)
    sure = blended(analytic, replace(question, doubt=0.0), answer).runtime_us
    unsure = blended(analytic, replace(question, doubt=math.log(4)), answer).runtime_us
    assert (sure.p10, sure.p90) == pytest.approx((answer.runtime_us.p10, answer.runtime_us.p90))
    assert unsure.p90 / unsure.p50 == pytest.approx(math.exp(math.hypot(math.log(1.5), math.log(4))))
    assert unsure.p50 / unsure.p10 == pytest.approx(unsure.p90 / unsure.p50)


anything = st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 1e12)


@given(st.tuples(anything, anything, anything), st.floats(0, 50))
@example((1e308, 1e308, 1e308), 1.0)
@example((0.0, 2.2e-313, 0.0), 0.0)
def test_no_answer_is_faster_than_the_roofline_or_out_of_order(times: tuple[float, float, float], doubt: float) -> None:
    analytic, question = parts()
    found = blended(analytic, replace(question, doubt=doubt), Answer(Quantiles(*times), 0.0)).runtime_us
    assert question.least_us <= found.p10 <= found.p50 <= found.p90
    assert math.isfinite(found.p90)


def test_a_prediction_through_measurements_stays_and_carries_the_models_own() -> None:
    analytic, question = parts()
    assert FORECAST.launch is not None
    assert FORECAST.work is not None
    device = find_builtin("generic-cpu")
    assert device is not None
    smaller = replace(FORECAST.launch, global_size=(1024,), scalars=(("n", 1024),))
    at = FORECAST.work, FORECAST.launch, device
    samples = (Sample(smaller, 50.0),)
    through = Predictor().with_late_inputs(analytic, *at, LateInputs(measured=samples))
    answer = around(10 * question.least_us)
    found = Predictor().predict(*at, late=LateInputs(question, answer, samples))
    assert (found.basis, found.runtime_us, found.through) == (Basis.MEASURED, through.runtime_us, through.through)
    assert (found.own.basis, found.own_us.p50) == (Basis.MODEL, answer.runtime_us.p50)
    assert [each.time_us for each in through.resources] == [each.time_us for each in found.resources]


def test_each_part_may_come_first() -> None:
    analytic, question = parts()
    assert FORECAST.launch is not None
    assert FORECAST.work is not None
    device = find_builtin("generic-cpu")
    assert device is not None
    at = FORECAST.work, FORECAST.launch, device
    smaller = replace(FORECAST.launch, global_size=(1024,), scalars=(("n", 1024),))
    answered = LateInputs(question, around(10 * question.least_us))
    measured = LateInputs(measured=(Sample(smaller, 50.0),))
    predictor = Predictor()
    one = predictor.with_late_inputs(predictor.with_late_inputs(analytic, *at, answered), *at, measured)
    other = predictor.with_late_inputs(predictor.with_late_inputs(analytic, *at, measured), *at, answered)
    assert one == other
    assert (one.assumptions, one.advice, one.lines) == (other.assumptions, other.advice, other.lines)
