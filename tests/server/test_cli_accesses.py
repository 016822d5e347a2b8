"""What `predict --format json` and the hover's text say of memory, access by access."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
TURN = """\
// kernelcast: global=1024x1024 local=32x32 n=1024
__kernel void turn(__global const float *x, __global float *y, const int n) {
    __local float t[32][32];
    int a = get_local_id(0), b = get_local_id(1);
    t[b][a] = x[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(get_group_id(0) * 32 + b) * n + get_group_id(1) * 32 + a] = t[a][b];
}
"""
WALK = """\
__kernel void walk(__global const float *x, __global float *y, const int n) {
    int g = get_global_id(0);
    float s = 0;
    if (g < n)
        for (int k = 0; k < n; ++k)
            s += x[k * 1024 + g];
    y[g] = s;
}
"""


@pytest.fixture
def turned(tmp_path: Path) -> Path:
    file = tmp_path / "turn.cl"
    file.write_text(TURN)
    return file


def answer(run: Run, *arguments: str) -> dict[str, Any]:
    done = run("predict", *arguments, "--device", "generic-gpu", "--format", "json")
    assert "Traceback" not in done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return found


def test_each_access_tells_its_place_its_reuse_and_what_it_costs_a_warp(run: Run, turned: Path) -> None:
    said = answer(run, str(turned))
    stored, loaded = ([a for a in said["accesses"] if a["buffer"] == "t" and a["kind"] == k] for k in ("store", "load"))
    assert [a["bank_conflict_degree"] for a in (*stored, *loaded)] == [1, 32]
    (read,) = (a for a in said["accesses"] if a["buffer"] == "x")
    assert (read["line"], read["pattern"], read["stride_bytes"], read["sectors_per_warp"]) == (5, "unit", 4, 4)
    assert "get_global_id(1)*n" in read["index"]
    assert read["launch"] == {
        "requested_bytes": 4 << 20, "distinct_bytes": 4 << 20, "cache_line_bytes": 4 << 20, "exact": True,
    }  # fmt: skip
    work = said["work"]
    assert work["global_footprint_bytes"] == work["cache_line_footprint_bytes"] == 8 << 20
    assert work["bank_conflict_degree"] == 16.5
    assert work["sectors_over_needed"] == 1
    assert work["group_footprint_bytes"] == 2 * 4096
    assert work["registers_estimate"] > 0
    assert work["divergence"] == 0


def test_loops_and_branches_tell_how_evenly_they_are_run(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "walk.cl"
    file.write_text(WALK)
    said = answer(run, str(file), "--global", "1024", "--local", "64", "--arg", "n=1000")
    (branch,) = said["branches"]
    (loop,) = said["loops"]
    assert (branch["line"], branch["share"], branch["groups_diverging"]) == (4, 1000 / 1024, 1 / 16)
    assert (loop["line"], loop["trips"], loop["decided_by"], loop["chain"]) == (5, 1000, "uniform", 1)
    (read,) = (a for a in said["accesses"] if a["buffer"] == "x")
    assert read["index"] == "get_global_id(0) + iteration(5)*1024"
    assert read["steps_bytes"] == [4096]
    assert read["item"]["cache_line_bytes"] == 64 * 1000
