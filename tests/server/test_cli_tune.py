"""`kernelcast tune` as terminals and scripts see it: the real console script."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# Far slower as it is written, and wrong in one of its variants.
SUM = """// kernelcast: global=N local=64 N=16384 x=N y=N -DWAY=0 tune.WAY=0,1,2 {more}
kernel void total(global const float *x, global float *y, int N) {{
    int i = get_global_id(0);
    float s = 0;
#if WAY == 0
    for (int k = 0; k < 400; ++k) s += x[(i * 97 + k * 1031) % N] * 0.0f;
#endif
    y[i] = s + x[i] * (WAY == 2 ? 3 : 2);
}}
"""
PREDICTED = ("--device", "generic-cpu", "--predict-only", "--analytic-only")
FAST = ("--device", "pocl", "--budget-s", "0.5", "--analytic-only")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my kernels" / "k.cl"
    path.parent.mkdir()
    path.write_text(SUM.format(more=""))
    return path


def outcome(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """stdout as one JSON object: nothing else may stand there."""
    assert "Traceback" not in done.stderr, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_candidates_are_ranked_by_what_they_are_predicted_to_take(run: Run, file: Path) -> None:
    found = outcome(run("tune", str(file), *PREDICTED, "--tune", "local=auto", "--format", "json"))
    times = [one["predicted_us"] for one in found["candidates"]]
    assert times == sorted(times)
    assert len(times) > 20
    assert found["best"] == 0
    assert all(one["measured_us"] is None and one["equal"] is None for one in found["candidates"])
    assert found["baseline"]["launch"]["local"] == [64]
    assert found["baseline"]["launch"]["defines"] == {"WAY": "0"}
    assert found["candidates"][0]["launch"]["defines"]["WAY"] in ("1", "2")


def test_a_candidates_launch_is_a_request_for_a_batch_with_the_same_prediction(run: Run, file: Path) -> None:
    found = outcome(run("tune", str(file), *PREDICTED, "--tune", "local=32,128", "--format", "json"))
    batch = "\n".join(json.dumps(one["launch"]) for one in found["candidates"])
    answers = run("predict", "--batch", "-", "--analytic-only", stdin=batch).stdout.splitlines()
    predicted = [json.loads(line)["runtime_us"]["p50"] for line in answers]
    assert predicted == pytest.approx([one["predicted_us"] for one in found["candidates"]])


def test_conditions_and_the_device_leave_candidates_out_and_say_so(run: Run, file: Path) -> None:
    more = ("--tune", "local=48,64,128", "--where", "local<=64")
    done = run("tune", str(file), *PREDICTED, *more)
    assert done.returncode == 0
    assert "3 candidates left out: a local size that does not divide the global size" in done.stderr
    assert "3 candidates left out: not local<=64" in done.stderr
    assert "is predicted to take" in done.stdout


def test_a_range_that_nothing_mentions_is_named(run: Run, file: Path) -> None:
    done = run("tune", str(file), *PREDICTED, "--tune", "TILE=1,2")
    assert "`TILE` is not mentioned in the kernel's source" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--tune", "TILE"], "not of the form NAME=VALUES"),
        (["--tune", "TILE=8,"], "a value is missing"),
        (["--where", "TILE"], "a condition takes a comparison"),
        (["--predict-only", "--write"], "--write needs measurements"),
        (["--predict-only", "--export", "times.json"], "--predict-only measures nothing"),
        (["--export-format", "t4"], "--export-format is for --export FILE"),
    ],
)
def test_a_call_that_is_wrong_says_what_is(run: Run, file: Path, arguments: list[str], complaint: str) -> None:
    done = run("tune", str(file), *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_launch_that_is_not_there_is_named(run: Run, file: Path) -> None:
    done = run("tune", str(file), *PREDICTED, "--launch", "large")
    assert done.returncode == 1
    assert "`total` has no launch named `large`" in done.stderr


@pytest.mark.device
def test_the_fastest_with_the_same_results_is_found_and_written(run: Run, file: Path) -> None:
    done = run("tune", str(file), *FAST, "--exhaustive", "--format", "json", "--write")
    found = outcome(done)
    by_way = {one["launch"]["defines"]["WAY"]: one for one in found["candidates"]}
    assert by_way["2"]["equal"] is False
    assert by_way["1"]["equal"] is True
    assert by_way["0"]["equal"] is True
    assert all(one["measured_us"] > 0 for one in found["candidates"])
    best = found["candidates"][found["best"]]
    assert best["launch"]["defines"] == {"WAY": "1"}
    assert best["ratio"]["high"] < 1
    assert found["baseline"] == by_way["0"]
    assert file.read_text() == SUM.format(more="").replace("-DWAY=0", "-DWAY=1")
    kept = run("history", str(file), "--format", "json").stdout
    assert kept.count('"kernel": "total"') == 3


@pytest.mark.device
def test_no_more_than_asked_for_are_measured(run: Run, file: Path) -> None:
    found = outcome(run("tune", str(file), *FAST, "--limit", "1", "--format", "json"))
    assert sum(one["measured_us"] is not None for one in found["candidates"]) == 2  # and the launch as it is


@pytest.mark.device
def test_nothing_is_written_where_nothing_is_faster_with_the_same_results(run: Run, file: Path) -> None:
    text = SUM.format(more="").replace("tune.WAY=0,1,2", "tune.WAY=2")
    file.write_text(text)
    done = run("tune", str(file), *FAST, "--write")
    assert "stays as it is" in done.stderr
    assert file.read_text() == text


def test_times_from_kernel_tuner_rank_candidates_where_nothing_is_measured(
    run: Run, file: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache.json"
    times = {"0": 3.0, "1": 2.0, "2": 1.5}
    entries = {way: {"WAY": int(way), "time": time_ms} for way, time_ms in times.items()}
    cache.write_text(json.dumps({"device_name": "My GPU", "tune_params_keys": ["WAY"], "cache": entries}))
    done = run("tune", str(file), *PREDICTED, "--import", str(cache))
    assert "times of 3 launches measured on My GPU" in done.stderr
    assert "-DWAY=2 took 1.5 ms instead of 3.0 ms (2x faster) where it was measured" in " ".join(done.stdout.split())
    found = outcome(run("tune", str(file), *PREDICTED, "--import", str(cache), "--format", "json"))
    assert [one["imported_us"] for one in found["candidates"]] == [1500.0, 2000.0, 3000.0]
    assert all(one["measured_us"] is None for one in found["candidates"])


def test_an_imported_file_that_does_not_fit_costs_the_kernel_and_says_why(run: Run, file: Path) -> None:
    done = run("tune", str(file), *PREDICTED, "--import", str(file))
    assert done.returncode == 1
    assert "is neither a cache file of Kernel Tuner nor a T4 results file" in done.stderr


def test_one_kernel_at_a_time_is_exchanged(run: Run, file: Path) -> None:
    done = run("tune", str(file), str(file), *PREDICTED, "--import", "times.json")
    assert done.returncode == 2
    assert "name it with --kernel" in done.stderr


@pytest.mark.device
def test_what_was_measured_is_exported_and_can_be_imported(run: Run, file: Path, tmp_path: Path) -> None:
    cache, t4 = tmp_path / "times.json", tmp_path / "times.t4.json"
    for path in (cache, t4):
        done = run("tune", str(file), *FAST, "--exhaustive", "--export", str(path))
        assert f"written into {path}" in done.stderr
    assert json.loads(cache.read_text())["cache"]["2"]["__error__"] == "RuntimeFailedConfig"  # it writes something else
    results = {one["configuration"]["WAY"]: one for one in json.loads(t4.read_text())["results"]}
    assert results[1]["measurements"][0]["value"] < results[0]["measurements"][0]["value"]
    assert results[2]["invalidity"] == "correctness"
    found = outcome(run("tune", str(file), *PREDICTED, "--import", str(t4), "--format", "json"))
    assert found["candidates"][found["best"]]["launch"]["defines"] == {"WAY": "1"}
    assert sum(one["imported_us"] is not None for one in found["candidates"]) == 2
