"""`kernelcast report` as terminals and scripts see it: a page in the cache folder, where one asks for it, or JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = """// kernelcast: global=N local=64 N=65536 x=N n=N
__kernel void scale(__global float *x, const int n) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * 2.0f;
}
"""


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    return file


@pytest.fixture
def report(run: Run, tmp_path: Path) -> Run:
    """The command for a device that every machine knows."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environment.setdefault("XDG_CACHE_HOME", str(tmp_path / "cache"))
        done = run("report", *arguments, "--device", "generic-cpu", **environment)
        assert "Traceback" not in done.stderr
        return done

    return call


def test_the_page_goes_to_the_cache_and_its_path_to_stdout(report: Run, scale: Path, tmp_path: Path) -> None:
    done = report(str(scale))
    assert done.returncode == 0, done.stderr
    written = Path(done.stdout.strip())
    assert written.is_relative_to(tmp_path / "cache")
    assert written.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["scale.cl"]
    assert report(str(scale)).stdout.strip() == str(written)


def test_the_page_goes_where_one_asks_for_it(report: Run, scale: Path, tmp_path: Path) -> None:
    done = report(str(scale), "-o", "here.html")
    assert done.stdout == "here.html\n"
    assert "scale" in (tmp_path / "here.html").read_text(encoding="utf-8")
    assert not list((tmp_path / "cache").rglob("*.html"))


def test_a_dash_is_stdout(report: Run, scale: Path) -> None:
    done = report(str(scale), "-o", "-")
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stdout.endswith("</html>\n")


def test_json_holds_the_same_figures(report: Run, scale: Path) -> None:
    done = report(str(scale), "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    (kernel,) = found["kernels"]
    (launch,) = kernel["launches"]
    assert kernel["kernel"] == "scale"
    assert launch["global"] == [65536]
    assert launch["runtime_us"]["p10"] <= launch["runtime_us"]["p50"] <= launch["runtime_us"]["p90"]
    assert launch["roofline"]["intensity"] == pytest.approx(1 / 8)
    assert [point["factor"] for point in launch["sizes"]["points"]] == [2.0**power for power in range(-6, 7)]
    (current,) = [device for device in launch["devices"] if device["current"]]
    assert current["id"] == "generic-cpu"
    assert current["ratio"] == 1


def test_the_flags_of_predict_say_the_launch(report: Run, scale: Path) -> None:
    done = report(str(scale), "--format", "json", "--global", "4096", "--local", "32", "--arg", "n=4096")
    (launch,) = json.loads(done.stdout)["kernels"][0]["launches"]
    assert (launch["global"], launch["local"]) == ([4096], [32])


def test_several_files_make_one_page(report: Run, scale: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.cl"
    other.write_text(SCALE.replace("scale", "other"))
    done = report(str(scale), str(other), "-o", "-")
    assert "Performance of 2 files" in done.stdout
    assert 'data-kernel="scale"' in done.stdout
    assert 'data-kernel="other"' in done.stdout


def test_one_kernel_of_many_can_be_picked(report: Run, scale: Path) -> None:
    scale.write_text(SCALE + SCALE.replace("scale", "other"))
    done = report(str(scale), "--kernel", "other", "-o", "-")
    assert 'data-kernel="other"' in done.stdout
    assert 'data-kernel="scale"' not in done.stdout


def test_a_file_that_cannot_be_read_costs_the_others_nothing(report: Run, scale: Path) -> None:
    done = report(str(scale), "gone.cl", "-o", "-")
    assert done.returncode == 1
    assert 'data-kernel="scale"' in done.stdout
    assert "gone.cl" in done.stderr


def test_a_report_that_cannot_be_written_says_where_and_why(report: Run, scale: Path) -> None:
    done = report(str(scale), "-o", str(scale / "report.html"))
    assert done.returncode == 1
    assert "cannot be written to" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--format", "text"], ["--batch", "-"]])
def test_a_wrong_call_is_told_so(run: Run, arguments: list[str]) -> None:
    done = run("report", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
