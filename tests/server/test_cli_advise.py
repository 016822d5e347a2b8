"""`kernelcast advise`: fixes with their gain, measured and applied on demand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

GPU = "nvidia-a100-pcie-40gb"
TURN = """// kernelcast: global=(1024, 2048) local=(64, 1) a=1024*2048 b=1024*2048 n=2048
__kernel void turn(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[x * n + y] * 3;
}
"""
LARGE = TURN.replace("2048", "8192").replace("1024", "4096")  # more than the caches of a GPU hold
SWAPPED = "const int x = get_global_id(1), y = get_global_id(0);"


def test_fixes_are_listed_with_what_they_gain_and_what_must_hold(run: Run, tmp_path: Path) -> None:
    (tmp_path / "turn.cl").write_text(LARGE)
    ran = run("advise", "turn.cl", "--device", GPU)
    assert ran.returncode == 0, ran.stderr
    told = " ".join(ran.stdout.split())
    assert "[uncoalesced-access] Swap dimensions 0 and 1" in told
    assert "x faster)" in told
    assert "Right if the host launches it as 8192x4096 / 64x1" in told
    assert (tmp_path / "turn.cl").read_text() == LARGE


def test_json_has_the_edits_and_both_times(run: Run, tmp_path: Path) -> None:
    (tmp_path / "turn.cl").write_text(LARGE)
    answer = json.loads(run("advise", "turn.cl", "--device", GPU, "--format", "json").stdout)
    fix = answer["fixes"][0]
    assert fix["code"] == "uncoalesced-access"
    assert fix["predicted_us"] < 0.95 * answer["runtime_us"]["p50"]
    assert fix["gain_percent"] >= 5
    assert fix["measured"] is None
    assert {edit["text"] for edit in fix["edits"]} >= {"0", "1", "8192", "4096"}


def test_the_best_fix_of_a_code_is_written_into_the_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "turn.cl").write_text(LARGE)
    ran = run("advise", "turn.cl", "--device", GPU, "--apply", "uncoalesced-access")
    assert "Applied to turn.cl" in " ".join(ran.stdout.split())
    assert SWAPPED in (tmp_path / "turn.cl").read_text()


def test_a_file_that_is_no_utf_8_is_not_written(run: Run, tmp_path: Path) -> None:
    before = b"// gr\xfcn\n" + LARGE.encode()
    (tmp_path / "turn.cl").write_bytes(before)
    ran = run("advise", "turn.cl", "--device", GPU, "--apply", "uncoalesced-access")
    assert ran.returncode == 1
    assert "is not UTF-8 text" in ran.stderr
    assert (tmp_path / "turn.cl").read_bytes() == before


@pytest.mark.device
def test_a_fix_is_applied_only_if_measuring_proves_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "turn.cl").write_text(TURN)
    ran = run(
        "advise", "turn.cl", "--device", "pocl", "--apply", "uncoalesced-access", "--measure", "--budget-s", "0.5",
        "--format", "json",
    )  # fmt: skip
    (fix,) = json.loads(ran.stdout)["fixes"]
    assert fix["measured"]["equal"]
    assert fix["applied"] == fix["measured"]["faster"]
    assert (SWAPPED in (tmp_path / "turn.cl").read_text()) == fix["applied"]
    kept = [json.loads(line) for line in run("history", "turn.cl", "--format", "json").stdout.splitlines()]
    medians = {each["runtime_us"]["median"] for each in kept}
    assert medians == {fix["measured"]["before_us"], fix["measured"]["after_us"]}


def test_a_call_without_files_is_refused(run: Run) -> None:
    assert run("advise").returncode == 2
