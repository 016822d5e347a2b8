"""Commands ask the learned model where there are weights, else, or on request, the analytical model alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = """\
// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global float *x, const int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = x[i] * 2.0f;
}
"""
TWICE_THE_ANALYTIC = {"kind": "linear", "log2_factor": 1.0, "spread": 1.25, "novelty": 0.5}
FAST = ("--budget-s", "0.1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    return file


@pytest.fixture
def weights(tmp_path: Path) -> Callable[..., str]:
    """A folder with weights; those of the smallest kind unless it says otherwise."""

    def write(text: str = "", **changes: Any) -> str:
        folder = tmp_path / "weights"
        folder.mkdir(exist_ok=True)
        (folder / "model.json").write_text(text or json.dumps({**TWICE_THE_ANALYTIC, **changes}))
        return str(folder)

    return write


def one(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (line,) = done.stdout.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


def predicted(run: Run, file: Path, *flags: str, **environment: str) -> dict[str, Any]:
    return one(run("predict", str(file), "--device", "generic-cpu", "--format", "json", *flags, **environment))


def test_without_weights_the_analytical_model_answers(run: Run, file: Path, tmp_path: Path) -> None:
    answer = predicted(run, file, KERNELCAST_WEIGHTS=str(tmp_path / "nowhere"))
    assert (answer["basis"], answer["novelty"]) == ("analytic", None)
    assert answer["runtime_us"]["p50"] == answer["analytic_us"]


def test_with_weights_the_model_answers_and_the_analytical_model_stand_beside_it(
    run: Run, file: Path, weights: Callable[..., str]
) -> None:
    answer = predicted(run, file, KERNELCAST_WEIGHTS=weights())
    assert (answer["basis"], answer["novelty"]) == ("model", 0.5)
    assert answer["runtime_us"]["p50"] == pytest.approx(2 * answer["analytic_us"])
    assert answer["runtime_us"]["p90"] == pytest.approx(2.5 * answer["analytic_us"])
    table = run("predict", str(file), "--device", "generic-cpu", KERNELCAST_WEIGHTS=weights())
    assert "learned model" in table.stdout


def test_the_analytical_model_alone_can_be_asked(run: Run, file: Path, weights: Callable[..., str]) -> None:
    answer = predicted(run, file, "--analytic-only", KERNELCAST_WEIGHTS=weights())
    assert (answer["basis"], answer["novelty"]) == ("analytic", None)
    assert answer["runtime_us"]["p50"] == answer["analytic_us"]


def test_no_answer_is_faster_than_the_roofline(run: Run, file: Path, weights: Callable[..., str]) -> None:
    answer = predicted(run, file, KERNELCAST_WEIGHTS=weights(log2_factor=-30))
    assert answer["basis"] == "model"
    assert 0 < answer["runtime_us"]["p10"] == answer["runtime_us"]["p50"] <= answer["analytic_us"]


def test_weights_that_cannot_be_used_cost_a_sentence_and_no_answer(
    run: Run, file: Path, weights: Callable[..., str]
) -> None:
    done = run(
        *("predict", str(file), str(file), "--device", "generic-cpu", "--format", "json"),
        KERNELCAST_WEIGHTS=weights("not JSON"),
    )
    assert done.returncode == 0
    assert [json.loads(line)["basis"] for line in done.stdout.splitlines()] == ["analytic", "analytic"]
    assert done.stderr.count("the weights in") == 1


def test_each_line_of_a_batch_is_answered_by_the_model(run: Run, file: Path, weights: Callable[..., str]) -> None:
    lines = [{"id": n, "file": str(file), "global": [n * 1024], "args": {"n": n * 1024}} for n in range(1, 6)]
    stdin = "".join(json.dumps(line) + "\n" for line in [*lines, {"id": 9, "file": "nowhere.cl"}])
    done = run("predict", "--batch", "-", "--device", "generic-cpu", stdin=stdin, KERNELCAST_WEIGHTS=weights())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5, 9]
    assert [answer.get("basis") for answer in answers] == ["model"] * 5 + [None]


def test_a_report_tells_all_sizes_and_the_devices_it_was_trained_on_by_the_model(
    run: Run, file: Path, weights: Callable[..., str]
) -> None:
    done = run(
        *("report", str(file), "--device", "generic-cpu", "--format", "json", "-o", "-"), KERNELCAST_WEIGHTS=weights()
    )
    (launch,) = json.loads(done.stdout)["kernels"][0]["launches"]
    assert launch["basis"] == "model"
    bases = {row["id"]: row["basis"] for row in launch["devices"] if "basis" in row}
    assert bases["generic-cpu"] == "model"
    assert {bases[each] for each in bases if each.startswith(("nvidia", "amd-radeon", "apple"))} == {"analytic"}
    (here,) = [point for point in launch["sizes"]["points"] if point["current"]]
    assert here["runtime_us"] == launch["runtime_us"]


def test_the_doctor_looks_at_the_weights(run: Run, weights: Callable[..., str]) -> None:
    def found(folder: str) -> list[str]:
        findings = json.loads(run("doctor", "--format", "json", KERNELCAST_WEIGHTS=folder).stdout)
        return [each["health"] for each in findings if each["subject"] == "learned model"]

    assert found(weights()) == ["ok"]
    assert found(weights("{}")) == ["broken"]


@pytest.mark.device
def test_a_measurement_improves_what_is_said_of_other_kernels_at_once(
    run: Run, file: Path, tmp_path: Path, weights: Callable[..., str]
) -> None:
    folder = weights(log2_factor=10)
    other = tmp_path / "other.cl"
    other.write_text(SCALE.replace("scale", "shift").replace("x[i] * 2.0f", "x[i] + 2.0f"))

    def shift(*flags: str) -> dict[str, Any]:
        return one(run("predict", str(other), "--format", "json", *flags, KERNELCAST_WEIGHTS=folder))

    before = shift()
    measured = one(run("measure", str(file), "--format", "json", *FAST, KERNELCAST_WEIGHTS=folder))
    assert measured["predicted_us"] > 20 * measured["runtime_us"]["median"]
    after = shift()
    assert before["basis"] == after["basis"] == "model"
    assert after["runtime_us"]["p50"] < before["runtime_us"]["p50"]
    assert shift("--ignore-measurements")["runtime_us"]["p50"] == pytest.approx(before["runtime_us"]["p50"])
    analytic_alone = one(
        run("measure", str(file), "--format", "json", "--analytic-only", *FAST, KERNELCAST_WEIGHTS=folder)
    )
    assert analytic_alone["predicted_us"] < measured["predicted_us"] / 100
