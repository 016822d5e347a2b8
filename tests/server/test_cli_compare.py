"""`kernelcast compare` as terminals and scripts see it: the real console script."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import model

Run = Callable[..., "subprocess.CompletedProcess[str]"]
HEAD = "// kernelcast: global=65536 local=64 n=65536\n"
SCALE = """__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  float s = 0.0f;
  for (int k = 0; k < TIMES; ++k) s += a[(i + k) % n];
  if (i < n) b[i] = s;
}
"""
PREDICTED = ("--device", "generic-cpu", "--predict-only", "--format", "json")
MEASURED = ("--device", "pocl", "--budget-s", "1", "--format", "json")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two versions of a kernel; the second does fifty times the work."""
    paths = tmp_path / "my old.cl", tmp_path / "new.cl"
    for path, times in zip(paths, ("1", "50"), strict=True):
        path.write_text(HEAD + SCALE.replace("TIMES", times))
    return str(paths[0]), str(paths[1])


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """stdout as JSON lines: nothing else may stand there."""
    assert "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_two_files_are_compared_by_prediction_alone(run: Run, files: tuple[str, str]) -> None:
    done = run("compare", *files, *PREDICTED)
    assert done.returncode == 0
    (found,) = answers(done)
    assert (found["old"]["file"], found["new"]["file"]) == files
    ratio = found["predicted_ratio"]
    assert ratio["p50"] == pytest.approx(found["new"]["predicted_us"] / found["old"]["predicted_us"])
    assert 1 < ratio["p10"] < ratio["p50"] < ratio["p90"]
    assert found["verdict"] == "slower"
    assert found["measured_ratio"] is None
    assert found["equal"] is None


@pytest.mark.device
def test_what_is_counted_alike_is_known_better_to_take_as_long(run: Run, tmp_path: Path) -> None:
    old, alike, unlike = (tmp_path / f"{name}.cl" for name in ("old", "alike", "unlike"))
    old.write_text(HEAD + SCALE.replace("TIMES", "50"))
    alike.write_text(old.read_text().replace("float s = 0.0f", "float s = 1.0f"))
    unlike.write_text(old.read_text().replace("a[(i + k) % n]", "sin(a[(17 * k * i) % n])"))
    by_model = ("--device", "pocl", "--predict-only", "--format", "json")
    weights = str(Path(model.__file__).parent / "weights")  # what ships
    near, far = (
        answers(run("compare", str(old), str(each), *by_model, KERNELCAST_WEIGHTS=weights))[0]
        for each in (alike, unlike)
    )
    widths = [each["predicted_ratio"]["p90"] / each["predicted_ratio"]["p50"] for each in (near, far)]
    assert near["predicted_ratio"]["p50"] == pytest.approx(1)
    assert widths[0] < 1.2 < widths[1]


def test_the_launches_of_a_comparison_are_requests_for_a_batch(run: Run, files: tuple[str, str]) -> None:
    (found,) = answers(run("compare", *files, *PREDICTED))
    batch = "\n".join(json.dumps(found[side]["launch"]) for side in ("old", "new"))
    lines = run("predict", "--batch", "-", stdin=batch).stdout.splitlines()
    predicted = [json.loads(line)["runtime_us"]["p50"] for line in lines]
    assert predicted == pytest.approx([found["old"]["predicted_us"], found["new"]["predicted_us"]])


def test_two_kernels_of_a_file_and_a_kernel_with_itself(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    both = (SCALE.replace("scale", name).replace("TIMES", "3") for name in ("one", "two"))
    path.write_text("".join(HEAD + each for each in both))
    (found,) = answers(run("compare", str(path), "-k", "one", "-k", "two", *PREDICTED))
    assert (found["old"]["kernel"], found["new"]["kernel"]) == ("one", "two")
    assert found["predicted_ratio"]["p50"] == 1
    assert found["verdict"] == "no clear change"


def test_a_version_without_a_launch_is_compared_under_the_others(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cl", tmp_path / "new.cl"
    old.write_text(HEAD.replace("65536", "4096") + SCALE.replace("TIMES", "1"))
    new.write_text(SCALE.replace("TIMES", "2"))
    for pair in ((old, new), (new, old)):
        (found,) = answers(run("compare", *map(str, pair), *PREDICTED))
        assert found["old"]["launch"]["global"] == found["new"]["launch"]["global"] == [4096]


def test_each_launch_of_one_name_is_compared(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cl", tmp_path / "new.cl"
    small, large = (f"// kernelcast: global={n} local=64 n={n} name={name}\n" for n, name in ((64, "s"), (8192, "l")))
    old.write_text(small + large + SCALE.replace("TIMES", "1"))
    new.write_text(large + SCALE.replace("TIMES", "2"))
    (found,) = answers(run("compare", str(old), str(new), *PREDICTED))
    assert found["old"]["launch"]["global"] == found["new"]["launch"]["global"] == [8192]


@pytest.mark.device
def test_versions_are_measured_in_turns_and_their_results_compared(run: Run, files: tuple[str, str]) -> None:
    done = run("compare", *files, *MEASURED)
    assert done.returncode == 0, done.stderr
    (found,) = answers(done)
    measured = found["measured_ratio"]
    assert measured["low"] <= measured["median"] <= measured["high"]
    assert found["verdict"] == "slower"
    assert found["equal"] is False
    assert found["old"]["measured_us"] < found["new"]["measured_us"]
    told = run("history", files[0]).stdout
    assert "scale" in told


@pytest.mark.device
def test_a_version_that_does_not_build_is_named_and_the_exit_status_says_so(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cl", tmp_path / "new.cl"
    old.write_text(HEAD + SCALE.replace("TIMES", "1"))
    new.write_text(HEAD + SCALE.replace("TIMES", "no_such_name"))
    done = run("compare", str(old), str(new), "--device", "pocl", "--budget-s", "0.5")
    assert done.returncode == 1
    assert "no_such_name" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_says_in_a_sentence_what_the_change_is(run: Run, files: tuple[str, str]) -> None:
    done = run("compare", *files, "--device", "generic-cpu", "--predict-only")
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "my old.cl" in told
    assert "x slower (80 %: " in told


def test_a_launch_on_several_devices_against_the_first(run: Run, files: tuple[str, str]) -> None:
    devices = "generic-cpu,generic-gpu"
    (found,) = answers(run("compare", files[1], "--devices", devices, "--format", "json"))
    first, second = found["devices"]
    assert [first["device"]["id"], second["device"]["id"]] == devices.split(",")
    assert first["ratio"] is None
    ratio = second["ratio"]
    assert ratio["p10"] < ratio["p50"] < ratio["p90"]
    assert ratio["p50"] == pytest.approx(second["runtime_us"]["p50"] / first["runtime_us"]["p50"])
    assert second["bound"]
    (alone,) = answers(run("predict", files[1], "--device", "generic-gpu", "--format", "json"))
    assert alone["runtime_us"] == pytest.approx(second["runtime_us"])
    told = run("compare", files[1], "--devices", devices).stdout
    assert "x faster" in told or "x slower" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["a.cl"], "say what to compare"),
        ([], "say what to compare"),
        (["a.cl", "b.cl", "c.cl"], "takes two versions"),
        (["a.cl", "b.cl", "--devices", "pocl,generic-cpu"], "takes one FILE"),
        (["a.cl", "--devices", "pocl"], "name two devices at least"),
        (["a.cl", "-k", "x", "-k", "y", "--device", "no such"], "no such"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(run: Run, arguments: list[str], complaint: str) -> None:
    done = run("compare", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_kernels_that_are_not_there_are_named(run: Run, files: tuple[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other.cl"
    one, two = (SCALE.replace("TIMES", "1").replace("scale", name) for name in ("one", "two"))
    other.write_text(HEAD + one + two)
    done = run("compare", files[0], str(other), "--device", "generic-cpu", "--predict-only")
    assert done.returncode == 1
    assert "no kernel has the same name in both" in done.stderr
    missing = run("compare", files[0], str(tmp_path / "missing.cl"), "--device", "generic-cpu", "--predict-only")
    assert missing.returncode == 1
    assert "missing.cl" in missing.stderr
