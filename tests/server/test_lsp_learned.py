"""The learned model's last answer stays in a hint until there is another, and no longer than it may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from model.fit import Fit
from model.forecast import FileForecast
from model.learned.question import Question
from model.prediction import Basis, Prediction, Quantiles, Through
from server.analysis.keep_last_prediction import hold_answers
from server.client.status import ServerFacts, status_of
from server.launch_view import Slot
from server.snapshot import Analysis, Snapshot

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
ASKED = Question("k", (), (), (), (), None, 10.0, 1.0, 0.0, "cpu")
SLOT = Slot("blur", "#0")


@pytest.fixture
def analysed(snapshot_of: Snapshots, forecast_of: Forecasts) -> Callable[..., Analysis]:
    text = snapshot_of().document.text.value

    def build(runtime_us: float, unanswered: bool = False, **changes: Any) -> Analysis:
        times = (runtime_us / 2, runtime_us, runtime_us * 2)
        analysis = snapshot_of(forecast=forecast_of(text, runtime_us=times, **changes)).analysis
        return replace(analysis, unanswered={SLOT: ASKED} if unanswered else {})

    return build


def shown(analysis: Analysis) -> Prediction:
    (forecast,) = analysis.forecast.forecasts
    assert forecast.prediction is not None
    return forecast.prediction


def test_the_last_answer_stays_while_the_next_is_on_its_way(analysed: Callable[..., Analysis]) -> None:
    model = analysed(500.0, basis=Basis.MODEL, novelty=0.1)
    found = shown(hold_answers(model, analysed(900.0, unanswered=True)))
    assert (found.runtime_us.p50, found.basis, found.novelty) == (500.0, Basis.MODEL, 0.1)
    twice = hold_answers(hold_answers(model, analysed(900.0, unanswered=True)), analysed(950.0, unanswered=True))
    assert shown(twice).runtime_us.p50 == 500.0


def test_an_answer_that_is_held_is_still_said_to_be_corrected(analysed: Callable[..., Analysis]) -> None:
    corrected = analysed(500.0, by_lessons=True, is_corrected=True)
    found = shown(hold_answers(corrected, analysed(900.0, unanswered=True)))
    assert (found.runtime_us.p50, found.is_corrected) == (500.0, True)


def test_where_no_answer_is_to_come_the_analytical_model_is_shown(analysed: Callable[..., Analysis]) -> None:
    model = analysed(500.0, basis=Basis.MODEL, novelty=0.1)
    assert shown(hold_answers(model, analysed(900.0))).basis is Basis.ANALYTIC


def test_what_the_analytical_model_said_before_is_not_held(analysed: Callable[..., Analysis]) -> None:
    assert shown(hold_answers(analysed(500.0), analysed(900.0, unanswered=True))).runtime_us.p50 == 900.0


def test_an_answer_for_another_device_or_another_opening_is_not_held(analysed: Callable[..., Analysis]) -> None:
    model, now = analysed(500.0, basis=Basis.MODEL, novelty=0.1), analysed(900.0, unanswered=True)
    elsewhere = replace(model, device=replace(model.device, id="elsewhere"))
    assert shown(hold_answers(elsewhere, now)).runtime_us.p50 == 900.0
    opened_anew = replace(model, document=replace(model.document, opening=model.document.opening + 1))
    assert shown(hold_answers(opened_anew, now)).runtime_us.p50 == 900.0


def test_a_prediction_through_measurements_keeps_its_time_and_holds_the_models_own(
    analysed: Callable[..., Analysis],
) -> None:
    model = analysed(500.0, basis=Basis.MODEL, novelty=0.1)
    through = Through(Quantiles(450.0, 900.0, 1800.0), Fit(1.0, 1.0, 0.1, ()), 1, 2)
    now = analysed(2.0, unanswered=True, through=through)
    found = shown(hold_answers(model, now))
    assert (found.runtime_us.p50, found.basis) == (900.0, Basis.MEASURED)
    assert found.through is not None
    assert (found.own_us.p50, found.own.basis) == (500.0, Basis.MODEL)


def test_the_status_says_why_the_model_does_not_answer(snapshot_of: Snapshots) -> None:
    facts = ServerFacts((), False, "", "", model_problem="The learned model is off: its process ended.")
    assert [problem.message for problem in status_of(snapshot_of(), facts).problems] == [facts.model_problem]
