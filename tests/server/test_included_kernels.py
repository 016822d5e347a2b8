"""Kernels that stand in an included file are found where somebody asks for them, and not shown in the editor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine
from server.cli.entry import main

_SCALE = """float scaled(float x) { return x * FACTOR; }
__kernel void scale(__global float *x) { int i = get_global_id(0); x[i] = scaled(x[i]); }
__kernel void twice(__global float *x) { int i = get_global_id(0); x[i] += x[i]; }
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """main.cl, which includes kernels/scale.cl and has no kernel of its own."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/scale.cl").write_text(_SCALE)
    main_file = tmp_path / "main.cl"
    main_file.write_text('#define FACTOR 2.0f\n#include "kernels/scale.cl"\n')
    return main_file


def _answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_predict_shows_those_of_a_file_without_its_own(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(program), "--format", "json", "--device", "generic-gpu"]) == 0
    assert sorted(str(answer["kernel"]) for answer in _answers(capsys)) == ["scale", "twice"]


def test_a_request_that_names_one_finds_it_beside_others(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(program.read_text() + "__kernel void own(__global float *x) { x[0] = 1; }\n")
    assert main(["predict", str(program), "--format", "json", "--device", "generic-gpu"]) == 0
    assert [answer["kernel"] for answer in _answers(capsys)] == ["own"]
    batch = program.with_name("batch.jsonl")
    batch.write_text(json.dumps({"file": str(program), "kernel": "scale"}))
    assert main(["predict", "--batch", str(batch), "--device", "generic-gpu"]) == 0
    (answer,) = _answers(capsys)
    work = answer["work"]
    assert isinstance(work, dict)
    assert work["flops"] > 0


def test_the_report_has_each_of_them(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(program), "--format", "json", "--device", "generic-gpu"]) == 0
    text = capsys.readouterr().out
    assert '"scale"' in text
    assert '"twice"' in text


def test_a_document_shows_its_own_kernels_alone(program: Path) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    found = Engine().forecast(program.read_text(), program, device)
    assert found.kernels == ()
    assert [k.name for k in Engine().forecast(program.read_text(), program, device, kernel="twice").kernels] == [
        "twice"
    ]


def test_a_name_that_is_nowhere_is_answered_with_all_that_there_are(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["predict", str(program), "--kernel", "none", "--format", "json", "--device", "generic-gpu"]
    assert main(call) == 1
    text = json.dumps(_answers(capsys))
    assert "no_kernel" in text
    assert "scale" in text


def test_an_edit_of_the_included_file_changes_the_answer(program: Path) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    engine = Engine()

    def flops() -> float:
        (forecast,) = engine.forecast(program.read_text(), program, device, kernel="scale").forecasts
        assert forecast.prediction is not None
        assert forecast.launch is not None
        return forecast.prediction.work.flops / forecast.launch.work_items

    assert flops() == 1
    (program.parent / "kernels/scale.cl").write_text(_SCALE.replace("x * FACTOR", "x * FACTOR + 1.0f"))
    assert flops() == 2
