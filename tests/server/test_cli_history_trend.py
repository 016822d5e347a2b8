"""`kernelcast history --trend`: predicted and measured times of kernels over commits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
GPU = ("--device", "nvidia-h100-pcie")


def kernel(body: str) -> str:
    return (
        "// kernelcast: global=65536 local=64 x=65536 y=65536 name=usual\n"
        f"kernel void scale(global const float *x, global float *y) {{ int i = get_global_id(0); y[i] = {body}; }}\n"
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A file with three commits, one of which renames it; its folder."""

    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init", "-q")
    for name, body, subject in (("old.cl", "x[i] * 2.0f", "Begin"), ("old.cl", "sin(x[i])", "Add <sine> & more")):
        (tmp_path / name).write_text(kernel(body), "utf-8")
        git("add", "old.cl")
        git("commit", "-q", "-m", subject)
    git("mv", "old.cl", "wave.cl")
    git("commit", "-q", "-m", "Rename")
    return tmp_path


def trends(run: Run, *words: str) -> list[dict[str, Any]]:
    done = run("history", "--trend", "wave.cl", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_commit_of_the_file_has_its_prediction_across_renames(run: Run, repository: Path) -> None:
    (trend,) = trends(run, *GPU)
    assert (trend["kernel"], trend["launch"]) == ("scale", "usual")
    assert [each["subject"] for each in trend["versions"]] == ["Begin", "Add <sine> & more", "Rename"]
    assert [each["changed"] for each in trend["versions"]] == [True, True, False]
    first, second, third = (each["predicted_us"]["p50"] for each in trend["versions"])
    assert first < second == third
    assert all(each["measured_us"] is None for each in trend["versions"])


def test_the_working_tree_comes_last_if_it_was_edited(run: Run, repository: Path) -> None:
    (repository / "wave.cl").write_text(kernel("cos(sin(exp(x[i])))"), "utf-8")
    (trend,) = trends(run, *GPU, "--limit", "2")
    assert [each["commit"] == "now" for each in trend["versions"]] == [False, True]
    assert trend["versions"][1]["changed"]


def test_the_table_shows_changes_and_a_line(run: Run, repository: Path) -> None:
    done = run("history", "--trend", "wave.cl", *GPU)
    assert done.returncode == 0, done.stderr
    assert "Add <sine> & more" in done.stdout
    assert "predicted  " in done.stdout
    assert "%" in done.stdout


def test_a_page_has_a_chart_and_escapes_subjects(run: Run, repository: Path) -> None:
    done = run("history", "--trend", "wave.cl", *GPU, "-o", "trend.html")
    assert "1 chart written to trend.html" in done.stderr
    page = (repository / "trend.html").read_text("utf-8")
    assert "Add &lt;sine&gt; &amp; more" in page
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    assert len([each for each in ElementTree.fromstring(svg).iter() if each.get("class") == "mark predicted"]) == 3


@pytest.mark.device
def test_measured_times_stand_at_the_version_that_was_measured(run: Run, repository: Path) -> None:
    assert run("measure", "wave.cl", "--device", "pocl", "--repeat", "3").returncode == 0
    (repository / "wave.cl").write_text(kernel("cos(sin(exp(x[i])))"), "utf-8")
    (trend,) = trends(run, "--device", "pocl")
    assert [each["measured_us"] is not None for each in trend["versions"]] == [False, True, True, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--trend",), "--trend needs the files"),
        (("--trend", "wave.cl", "--export", "a.csv"), "neither exports nor imports"),
        (("-o", "a.html"), "--output writes the charts of --trend"),
    ],
)
def test_wrong_calls_say_what_is_wrong(run: Run, repository: Path, words: tuple[str, ...], said: str) -> None:
    done = run("history", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_a_repository_it_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wave.cl").write_text(kernel("x[i]"), "utf-8")
    done = run("history", "--trend", "wave.cl", *GPU)
    assert done.returncode == 1
    assert "is in no Git repository" in done.stderr
