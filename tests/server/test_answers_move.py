"""What the learned model said of a kernel stays said when lines are typed above it; only its places move."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.compiled import CodeSource, CompiledFacts
from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.learned.question import Answer, Question
from model.prediction import Basis, Quantiles
from server.analysis.composer import Composer, ForecastGroup, KnownAnswers
from server.analysis.sources import Sources

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

COMPILED = CompiledFacts(
    "strided", "print", "", None, "generic-cpu", "A CPU", "1.0", "2026-01-01T00:00:00+00:00", CodeSource.ASSEMBLY,
    vector_width_bits=256, float_vector_share=1.0,
)  # fmt: skip


class Editor:
    """Analyses a text again and again, with a model that says the same of everything and counts what it is asked."""

    def __init__(self, compiled: CompiledFacts | None = None) -> None:
        self.asked = 0
        self._compiled = compiled
        self._engine, self._composer, self._known = Engine(asks=True), Composer(), KnownAnswers()

    def shows(self, text: str) -> tuple[Forecast, ...]:
        self._known.begin_round()
        (found,) = self._composer.composed(
            [ForecastGroup(self._engine.forecast(text, None, device()).forecasts, device())],
            Sources(self._ask, compiled_of=lambda *_: self._compiled),
        )
        return found

    def _ask(self, asked: Sequence[tuple[Question, Device]]) -> list[Answer | None]:
        return [self._known.of(question, None, self._answer) for question, _ in asked]

    def _answer(self, _question: Question) -> Answer:
        self.asked += 1
        return Answer(Quantiles(50.0, 70.0, 90.0), 0.2)


def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def test_moved_forecasts_are_those_of_somebody_who_never_saw_the_text_before() -> None:
    editor = Editor()
    for text in (TEXT, f"\n\n{TEXT}", f"// one\n{TEXT}", TEXT.replace("    y[i * 17]", "\n    y[i * 17]"), TEXT):
        known, afresh = editor.shows(text), Editor().shows(text)
        assert known == afresh
        for one, other in zip(known, afresh, strict=True):
            assert one.prediction is not None
            assert other.prediction is not None
            assert one.prediction.basis is Basis.MODEL
            assert one.prediction.advice == other.prediction.advice
            assert [*one.prediction.lines] == [*other.prediction.lines]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(("", "// a word", "#define FAR 1"))), max_size=4))
def test_lines_and_advice_of_moved_kernels_are_right_after_any_lines_typed(typed: list[tuple[int, str]]) -> None:
    editor, lines = Editor(COMPILED), TEXT.splitlines()
    for at, line in typed:
        editor.shows("\n".join(lines))
        lines.insert(at, line)
    known, afresh = editor.shows("\n".join(lines)), Editor(COMPILED).shows("\n".join(lines))
    assert known == afresh
    for one, other in zip(known, afresh, strict=True):
        assert one.prediction is not None
        assert other.prediction is not None
        assert one.prediction.basis is Basis.COMPILED
        assert one.question == other.question
        assert one.prediction.advice == other.prediction.advice
        assert [*one.prediction.lines] == [*other.prediction.lines]
        assert one.prediction.assumptions == other.prediction.assumptions


@pytest.mark.parametrize("compiled", [None, COMPILED])
def test_the_model_is_not_asked_again_for_a_line_typed_above(compiled: CompiledFacts | None) -> None:
    editor = Editor(compiled)
    editor.shows(TEXT)
    asked = editor.asked
    editor.shows(f"\n{TEXT}")
    assert editor.asked == asked > 0


def test_a_forecast_of_which_nothing_new_is_known_stays_the_same_object() -> None:
    editor = Editor()
    before, after = editor.shows(TEXT), editor.shows(TEXT)
    assert all(one is other for one, other in zip(before, after, strict=True))
