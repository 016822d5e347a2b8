"""What the learned model said of a kernel stays said when lines are typed above it; only its places move."""

from __future__ import annotations

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.learned.question import Answer, Question
from model.prediction import Basis, Quantiles
from server.analysis.questions import Answers

TEXT = """\
#define STEP 3
__kernel void strided(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float v = 0.0f;
    for (int k = 0; k < n; ++k)
        v += x[i * 64 + k * STEP];
    y[i * 17] = v;
}
__kernel void plain(__global float *y) { y[get_global_id(0)] = 1.0f; }
"""


class Model:
    """Says the same of everything, and remembers how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, question: Question) -> Answer:
        self.asked += 1
        return Answer(Quantiles(50.0, 70.0, 90.0), 0.2)


def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def by_the_model(engine: Engine, answers: Answers, model: Model, text: str) -> tuple[Forecast, ...]:
    found = engine.forecast(text, None, device()).forecasts
    return answers.put(found, lambda _kernel, _launch: None, model, None)


def test_moved_forecasts_are_those_of_somebody_who_never_saw_the_text_before() -> None:
    engine, answers, model = Engine(asks=True), Answers(), Model()
    for text in (TEXT, f"\n\n{TEXT}", f"// one\n{TEXT}", TEXT.replace("    y[i * 17]", "\n    y[i * 17]"), TEXT):
        known = by_the_model(engine, answers, model, text)
        afresh = by_the_model(Engine(asks=True), Answers(), Model(), text)
        assert known == afresh
        for one, other in zip(known, afresh, strict=True):
            assert one.prediction is not None
            assert other.prediction is not None
            assert one.prediction.basis is Basis.MODEL
            assert one.prediction.advice == other.prediction.advice
            assert [*one.prediction.lines] == [*other.prediction.lines]


def test_the_model_is_not_asked_again_for_a_line_typed_above() -> None:
    engine, answers, model = Engine(asks=True), Answers(), Model()
    by_the_model(engine, answers, model, TEXT)
    asked = model.asked
    by_the_model(engine, answers, model, f"\n{TEXT}")
    assert model.asked == asked > 0
