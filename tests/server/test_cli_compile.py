"""`kernelcast compile` as terminals and scripts see it: the real console script on the real device."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.device

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SOURCE = """\
// kernelcast: global=4096 local=64
__kernel void scale(__global const float *x, __global float *y, float factor) {
    size_t i = get_global_id(0);
    y[i] = factor * x[i] + 1.0f;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "my kernels.cl"
    found.write_text(SOURCE)
    return found


def test_facts_are_shown_and_known_the_next_time_wherever_the_kernel_stands(run: Run, file: Path) -> None:
    first = run("compile", str(file), "--device", "pocl")
    assert (first.returncode, first.stderr) == (0, "")
    for words in ("scale", "-bit vectors", "no spills", "machine code", "Analysis, a work-item"):
        assert words in first.stdout

    file.write_text("\n\n" + SOURCE)
    again = run("compile", str(file), "--device", "pocl", "--format", "json")
    assert again.returncode == 0
    answer = json.loads(again.stdout)
    compiled = answer["compiled"]
    assert (answer["kernel"], answer["device"]["id"], compiled["vectorised"]) == ("scale", "pocl", True)
    assert answer["analysis_per_work_item"]["load"] == 1
    file.write_text(SOURCE + "#define BROKEN\n")
    known = json.loads(run("compile", str(file), "--device", "pocl", "--format", "json").stdout)
    assert known["compiled"]["compiled_at"] == compiled["compiled_at"]


def test_a_build_that_fails_is_told_once_by_the_users_line(run: Run, file: Path) -> None:
    file.write_text(SOURCE.replace("factor *", "no_such *") + SOURCE.replace("scale", "other"))
    done = run("compile", str(file), "--device", "pocl")
    assert done.returncode == 1
    assert f"{file}:4: " in done.stderr
    assert done.stderr.count("does not build") == 1
    assert "Traceback" not in done.stderr


def test_what_makes_no_sense_is_refused(run: Run, file: Path) -> None:
    assert run("compile").returncode == 2
    assert "no device answers to `toaster`" in run("compile", str(file), "--device", "toaster").stderr
    assert run("compile", str(file), "--kernel", "nobody", "--device", "pocl").returncode == 1
