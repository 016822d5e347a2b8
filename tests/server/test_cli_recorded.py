"""Commands without sizes speak of the launches that were recorded, and can be told not to."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recordings import keep_scale
from tests.server.conftest import answers

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = """__kernel void scale(__global float *x, const int n, const float factor) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * factor;
}
"""
CALL = ("scale.cl", "--device", "generic-cpu")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in whose recording `scale` was launched 14 times over a million elements, and 1000 times over few."""
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "kernelcast.toml").touch()
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    keep_scale(tmp_path, SCALE, (1 << 20, 14, 300.0), (1 << 10, 1000, 2.0))
    return file


@pytest.mark.usefixtures("recorded")
def test_the_table_names_recorded_launches_and_what_the_program_measured(run: Run) -> None:
    said = run("predict", *CALL).stdout
    assert "1048576 / 64 (recorded, 14 launches)" in said
    assert "1024 / 64 (recorded, 1000 launches)" in said
    assert "took 300 µs in the program" in " ".join(said.split())
    assert "recorded" not in run("predict", *CALL, "--ignore-recordings").stdout


def test_json_says_what_was_recorded(run: Run, recorded: Path) -> None:
    first, second = answers(run("predict", *CALL, "--format", "json"))
    assert (first["launch"]["origin"], first["launch"]["global"]) == ("recorded", [1 << 20])
    assert (first["recorded"]["count"], first["recorded"]["event_us"], first["recorded"]["stale"]) == (14, 300.0, False)
    assert first["recorded"]["share"] == pytest.approx(4200 / 6200)
    assert second["recorded"]["count"] == 1000
    recorded.write_text(SCALE.replace("* factor", "+ factor"))
    stale, _ = answers(run("predict", *CALL, "--format", "json"))
    assert (stale["recorded"]["stale"], stale["recorded"]["event_us"]) == (True, None)
    assert any("before the last change" in each["text"] for each in stale["assumptions"])
    (guessed,) = answers(run("predict", *CALL, "--format", "json", "--ignore-recordings"))
    assert (guessed["launch"]["origin"], guessed["recorded"]) == ("inferred", None)


def test_each_kernel_of_a_host_has_its_own_shares(run: Run, recorded: Path) -> None:
    other = SCALE.replace("* factor", "+ factor")
    recorded.with_name("host.py").write_text(f'A = """{SCALE}"""\nB = """{other}"""\n')
    found = answers(run("predict", "host.py", "--device", "generic-cpu", "--format", "json"))
    assert [each["kernel"] for each in found] == ["scale"] * 4
    for own in (found[:2], found[2:]):
        assert sum(each["recorded"]["share"] for each in own) == pytest.approx(1.0)


@pytest.mark.usefixtures("recorded")
def test_a_batch_and_a_report_use_recordings_too(run: Run) -> None:
    asked = json.dumps({"file": "scale.cl", "kernel": "scale"}) + "\n"
    (answer,) = answers(run("predict", "--batch", "-", "--device", "generic-cpu", stdin=asked))
    assert answer["launch"]["global"] == [1 << 20]
    (plain,) = answers(run("predict", "--batch", "-", "--device", "generic-cpu", "--ignore-recordings", stdin=asked))
    assert plain["recorded"] is None
    told = json.loads(run("report", *CALL, "--format", "json").stdout)
    assert [launch["global"] for launch in told["kernels"][0]["launches"]] == [[1 << 20], [1 << 10]]
    page = run("report", *CALL, "-o", "-").stdout
    assert "known from a real run of the program" in page
    assert "a real run" not in run("report", *CALL, "-o", "-", "--ignore-recordings").stdout


@pytest.mark.usefixtures("recorded")
def test_sizes_of_the_call_go_first(run: Run) -> None:
    (answer,) = answers(run("predict", *CALL, "--global", "4096", "--format", "json"))
    assert (answer["launch"]["origin"], answer["launch"]["global"]) == ("request", [4096])
    (filled, *_) = answers(run("predict", *CALL, "--fill", "x=zeros", "--format", "json"))
    assert filled["launch"]["global"] == [1 << 20]
