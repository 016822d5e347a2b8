"""The scores of predicted changes, and which commits are looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.accuracy.commits import Row, is_exam, kernel_commits, rows_of, scores, table

_ROW = Row("c", "k", "pocl", "64 / auto", 1.5, 1.2, 1.9, 1.6, 1.55, 1.65, True)
_UNCHANGED = replace(_ROW, measured=1.0, measured_low=0.99, measured_high=1.01)
_UNSURE = replace(_ROW, ratio=0.9, low=0.6, high=1.3)
_NOISY = replace(_ROW, measured=1.3, measured_low=0.8, measured_high=2.0)
_OPPOSITE = replace(_ROW, measured=0.5, measured_low=0.45, measured_high=0.55)


def test_a_pair_in_the_right_direction_is_right() -> None:
    found = scores([_ROW])
    assert (found.clear, found.direction, found.told, found.verdicts, found.right, found.false_alarms) == (
        1,
        1,
        1,
        1,
        1,
        0,
    )
    assert (found.in_interval, found.pairs, found.large, found.large_direction) == (1, 1, 1, 1)
    assert found.error == pytest.approx(1.6 / 1.5)
    assert found.error_of_no_change == pytest.approx(1.6)


def test_verdicts_on_what_did_not_change_or_did_the_opposite_are_false_alarms() -> None:
    found = scores([_UNCHANGED, _OPPOSITE])
    assert (found.verdicts, found.right, found.false_alarms, found.in_interval) == (2, 0, 2, 0)


def test_what_the_noise_hides_is_neither_right_nor_wrong() -> None:
    found = scores([_NOISY])
    assert (found.clear, found.verdicts, found.right, found.false_alarms) == (0, 1, 0, 0)


def test_no_clear_change_is_no_alarm_but_a_direction() -> None:
    found = scores([_UNSURE])
    assert (found.verdicts, found.clear, found.direction, found.told) == (0, 1, 0, 0)


def test_a_small_change_is_no_large_one() -> None:
    small = replace(_ROW, measured=1.1, measured_low=1.08, measured_high=1.12)
    found = scores([small, _OPPOSITE])
    assert (found.clear, found.large, found.large_direction) == (2, 1, 0)


def test_without_pairs_there_are_no_scores() -> None:
    with pytest.raises(ValueError, match="no pair"):
        scores([])
    assert (
        table({"pocl": [_ROW, _UNSURE]})
        .splitlines()[2]
        .startswith("| pocl | 2 | 2 | 1 (50 %) | 1 (50 %) | 1 (50 %) | 1 | 1 (100 %)")
    )


def test_pairs_that_were_not_measured_are_left_out() -> None:
    measured = {"median": 1.0, "low": 0.9, "high": 1.1}
    change = {"kernel": "k", "ratio": {"p10": 0.9, "p50": 1.0, "p90": 1.1}, "launch": "64 / auto", "equal": True}
    change = {**change, "file": "k.cl", "measured_ratio": measured}
    copies = [{**change, "file": "third_party/rodinia/k.cl"}, {**change, "kernel": "lud_diagonal"}]
    kept = [change, {**change, "measured_ratio": None}, *copies]
    assert [row.measured for row in rows_of("c", "pocl", kept)] == [1.0]


def _repository(folder: Path) -> list[str]:
    """Make a repository and return its commits, the newest first."""

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    kernel = "// kernelcast: global=65536 local=64\n__kernel void k(__global float *x) {{\n  {}\n}}\n"
    loop = "float s = 0; for (int j = 0; j < 3000; ++j) s += sin(x[j]); x[get_global_id(0)] = s;"
    versions = {
        "k.cl": (kernel.format("x[get_global_id(0)] = 1;"), kernel.format(loop)),
        "README": ("one", "two"),
        "h.py": ("x = 1\n", f"SOURCE = '''{kernel.format(loop)}'''\n"),
    }
    git("init", "-q", "-b", "main")
    commits = []
    for at in range(2):
        for name, texts in versions.items():
            (folder / name).write_text(texts[at])
            git("add", "--all")
            git("commit", "-q", "-m", name)
            commits.append(git("rev-parse", "HEAD"))
    return commits[::-1]


@pytest.mark.parametrize(
    ("folder", "clone", "is_refused"),
    [
        ("rodinia_3.1", "", True), ("work", "https://example.org/someone/PolyBench-ACC.git", True),
        ("opencv", "", True), ("ggml-org+llama.cpp/repo", "", True),
        ("fractals", "git@example.org:a/fractals.git", False),
    ],
)  # fmt: skip
def test_repositories_that_accuracy_is_reported_on_elsewhere_are_refused(
    tmp_path: Path, folder: str, clone: str, is_refused: bool
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / folder)], check=True)
    if clone:
        subprocess.run(["git", "-C", str(tmp_path / folder), "remote", "add", "origin", clone], check=True)
    assert is_exam(tmp_path / folder) is is_refused


def test_commits_are_those_that_modify_kernels(tmp_path: Path) -> None:
    in_host, _, in_file, *_ = _repository(tmp_path)
    assert kernel_commits(tmp_path, 10) == [in_host, in_file]
    assert kernel_commits(tmp_path, 1) == [in_host]


@pytest.mark.device
def test_a_stopped_collection_goes_on_where_it_ended(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "r").mkdir()
    _repository(tmp_path / "r")
    rows = tmp_path / "rows.jsonl"
    command = [
        sys.executable,
        "-m",
        "tests.accuracy.commits",
        str(rows),
        "--repository",
        str(tmp_path / "r"),
        "--budget-s",
        "0.5",
    ]
    environment = {**os.environ, "PYTHONPATH": str(repository)}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], cwd=repository, env=environment, capture_output=True, text=True, check=False
        )

    assert call("--commits", "1").returncode == 1  # a new kernel alone
    done = call()
    assert done.returncode == 0, done.stderr
    assert "| pocl | 1 | 1 | 1 (100 %)" in done.stdout
    entries = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(entries) == 2
    assert str(tmp_path) not in rows.read_text()
    assert call().stderr == ""
