"""What the learned model is asked of a launch, and how weights are found."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from model.compiled import CompiledFacts
from model.device import Device
from model.engine import Engine
from model.forecast import Forecast
from model.learned.asking import question_of, with_compiled
from model.learned.learned import WEIGHTS_VARIABLE, UnusableModel, load_model, weights_folder
from model.learned.question import Question
from model.opencl.normalise import normalised_tokens
from model.opencl.program import read_program

SCALE = "// kernelcast: global=4096 local=64 n=4096\n" + (
    "__kernel void scale(__global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"
)
LINEAR = {"kind": "linear", "log2_factor": 1.0, "launch": [], "spread": 2.0, "novelty": 0.25}


def asked(text: str, device: Device, engine: Engine | None = None) -> Forecast:
    (forecast,) = (engine or Engine(asks=True)).forecast(text, None, device).forecasts
    return forecast


def question(text: str, device: Device) -> Question:
    found = asked(text, device).question
    assert found is not None
    return found


def test_an_engine_that_does_not_ask_makes_no_questions(cpu: Device) -> None:
    assert asked(SCALE, cpu, Engine()).question is None


def test_names_comments_and_layout_make_no_other_question(cpu: Device) -> None:
    renamed = SCALE.replace("scale", "twice").replace("x[i]", "in[i] /* all of it */").replace("*x", " *in")
    assert question(renamed, cpu) == question(SCALE, cpu)


def test_other_code_is_another_kernel_and_another_size_is_not(cpu: Device) -> None:
    own = question(SCALE, cpu)
    assert question(SCALE.replace("*=", "+="), cpu).kernel != own.kernel
    larger = question(SCALE.replace("4096", "8192"), cpu)
    assert larger.kernel == own.kernel
    assert larger.launch_facts != own.launch_facts


def test_the_engine_asks_what_training_asks(cpu: Device) -> None:
    forecast = asked(SCALE, cpu)
    assert forecast.work is not None
    assert forecast.launch is not None
    tokens = normalised_tokens(read_program(SCALE), "scale")
    made = question_of(forecast.work, forecast.work.count(forecast.launch), forecast.launch, cpu, tokens)
    assert made == forecast.question


def test_the_analytical_model_stand_in_the_question(cpu: Device) -> None:
    forecast = asked(SCALE, cpu)
    assert forecast.prediction is not None
    assert forecast.question is not None
    assert forecast.prediction.runtime_us.p50 == max(forecast.question.total_us, forecast.question.least_us)


def test_what_has_to_be_assumed_is_told_as_doubt(cpu: Device) -> None:
    searching = SCALE.replace("if (i < n)", "while (x[i] > 1.0f)")
    assert 0 <= question(SCALE, cpu).doubt < question(searching, cpu).doubt


def test_an_edit_elsewhere_asks_the_same(cpu: Device) -> None:
    engine = Engine(asks=True)
    before = asked(SCALE, cpu, engine).question
    assert asked(f"// moved\n\n{SCALE}", cpu, engine).question == before


def test_compiled_facts_are_a_further_part_of_the_question(cpu: Device) -> None:
    own = question(SCALE, cpu)
    facts = CompiledFacts("scale", "f", "", None, cpu.id, cpu.name, "1", "2026-01-01", registers=12)
    told = with_compiled(own, facts)
    assert own.compiled_facts is None
    assert told.compiled_facts is not None
    assert replace(told, compiled_facts=None) == own
    assert with_compiled(own, None) is own


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path))
    return tmp_path / "model.json"


def test_a_folder_without_weights_holds_no_model(weights: Path) -> None:
    assert not weights.exists()
    assert weights_folder() is None
    assert load_model() is None


def test_weights_answer_what_they_are_asked(weights: Path, cpu: Device) -> None:
    weights.write_text(json.dumps(LINEAR), "utf-8")
    model, own = load_model(), question(SCALE, cpu)
    assert model is not None
    (answer,) = model.answer([own])
    assert math.isclose(answer.runtime_us.p50, 2 * own.total_us)
    assert math.isclose(answer.runtime_us.p90, 4 * own.total_us)
    assert answer.novelty == 0.25


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": "linear"}', '{"kind": "linear", "log2_factor": "much"}', '{"kind": "later"}']
)
def test_weights_that_cannot_be_used_say_so_in_a_sentence(weights: Path, text: str) -> None:
    weights.write_text(text, "utf-8")
    with pytest.raises(UnusableModel, match=r"the weights in .* (damaged|kind)"):
        load_model()


def test_what_the_weights_need_is_named_where_it_is_missing(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.write_text(json.dumps(LINEAR), "utf-8")
    monkeypatch.setattr("model.learned.learned._READERS", {"linear": "nobody_has_this"})
    with pytest.raises(UnusableModel, match="`nobody_has_this`"):
        load_model()
