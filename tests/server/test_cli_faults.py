"""A mistake of our own costs one line of a batch, one kernel of a report, and stands in the file to be reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import model.engine
import model.faults
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.work.analyse import analyse
from model.work.work import Work
from server.cli.diagnosis import examine
from server.cli.entry import main
from server.log.faults import faults_file, kept_faults

_DEVICE = "generic-gpu"


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a kernel `good`, and one that our analysis breaks on."""

    def breaks(program: Program, kernel: Kernel) -> Work:
        if kernel.name == "bad":
            raise ValueError("secret code")
        return analyse(program, kernel)

    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(model.engine, "analyse", breaks)
    monkeypatch.setattr(model.faults, "_logged", set())
    monkeypatch.setattr(model.faults.logger, "handlers", [])
    file = tmp_path / "two.cl"
    body = "(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"
    file.write_text(f"__kernel void good{body}__kernel void bad{body}")
    return file


def test_one_line_of_a_batch_fails_and_the_others_are_answered(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "batch.jsonl"
    names = ("good", "bad", "good")
    batch.write_text("".join(json.dumps({"id": n, "file": str(two), "kernel": n}) + "\n" for n in names))
    assert main(["predict", "--batch", str(batch), "--device", _DEVICE]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == list(names)
    assert "runtime_us" in answers[0]
    assert "runtime_us" in answers[2]
    assert answers[1]["error"]["code"] == "internal"
    assert str(faults_file()) in answers[1]["error"]["message"]
    (record,) = kept_faults()
    assert json.loads(record)["failure"] == "ValueError"
    assert "secret code" not in record
    (finding,) = (each for each in examine(tmp_path) if each.subject == "faults")
    assert str(faults_file()) in finding.text
    assert "ValueError" in finding.text


def test_a_report_names_the_kernel_that_failed_and_shows_the_other(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(two), "--format", "json", "--device", _DEVICE]) == 1
    text = capsys.readouterr().out
    assert "mistake of Kernelcast's own" in text
    assert "good" in text


def test_what_fails_after_the_analysis_costs_its_own_line_too(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def breaks(request: object, found: object, forecast: object) -> dict[str, object]:
        calls.append("")
        if len(calls) == 1:
            raise KeyError("x")
        return {"ok": True}

    monkeypatch.setattr("server.cli.predict.prediction_answer", breaks)
    batch = tmp_path / "batch.jsonl"
    batch.write_text(2 * (json.dumps({"file": str(two), "kernel": "good"}) + "\n"))
    assert main(["predict", "--batch", str(batch), "--device", _DEVICE]) == 1
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["error"]["code"] == "internal"
    assert second == {"ok": True}
