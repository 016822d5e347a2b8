"""`kernelcast predict` of loops that arithmetic or data end: some work-items are run to find out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
WIDTH, HEIGHT, MOST = 320, 200, 300
SET = """\
__kernel void escape(__global int *out, int width, int most, float x0, float y0, float step) {
    int gx = get_global_id(0), gy = get_global_id(1);
    float cx = x0 + gx * step, cy = y0 + gy * step, x = 0.0f, y = 0.0f;
    int it = 0;
    while (x * x + y * y <= 4.0f && it < most) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        it++;
    }
    out[gy * width + gx] = it;
}
"""
SCAN = """\
__kernel void scan(__global const int *text, __global int *out) {
    int p = get_global_id(0);
    while (text[p] != 0) p++;
    out[get_global_id(0)] = p;
}
"""


def predicted(run: Run, tmp_path: Path, text: str, **request: Any) -> dict[str, Any]:
    file = tmp_path / "k.cl"
    file.write_text(text)
    lines = json.dumps({"file": str(file), **request}) + "\n"
    done = run("predict", "--batch", "-", "--device", "generic-cpu", stdin=lines)
    assert done.returncode == 0, done.stderr
    (answer,) = (json.loads(line) for line in done.stdout.splitlines())
    assert isinstance(answer, dict)
    return answer


def iterations() -> int:
    """Of all points of the set, in single precision."""
    cx, cy = np.meshgrid(
        np.float32(-2.2) + np.arange(WIDTH, dtype=np.float32) * np.float32(0.01),
        np.float32(-1.0) + np.arange(HEIGHT, dtype=np.float32) * np.float32(0.01),
    )
    x, y, total = np.zeros_like(cx), np.zeros_like(cx), 0
    for _ in range(MOST):
        inside = x * x + y * y <= 4
        x, y, cx, cy = x[inside], y[inside], cx[inside], cy[inside]
        total += x.size
        x, y = x * x - y * y + cx, 2 * x * y + cy
    return total


def test_an_escape_time_kernel_is_counted_by_running_some_of_it(run: Run, tmp_path: Path) -> None:
    args = {"width": WIDTH, "most": MOST, "x0": -2.2, "y0": -1.0, "step": 0.01}
    answer = predicted(run, tmp_path, SET, **{"global": [WIDTH, HEIGHT], "local": [16, 8], "args": args})
    flops_each = 3 + 3 + 3  # of the condition, of `t` (whose `y * y` is there already) and of `y`
    assert answer["work"]["flops"] == pytest.approx(iterations() * flops_each, rel=0.15)
    texts = " ".join(each["text"] for each in answer["assumptions"])
    assert "the loop on line 5 runs" in texts
    assert "found by running" in texts


def test_contents_that_nothing_describes_are_named_with_the_fill_that_would(run: Run, tmp_path: Path) -> None:
    answer = predicted(run, tmp_path, SCAN, **{"global": [4096], "local": [64], "buffers": {"text": 4096, "out": 4096}})
    texts = " ".join(each["text"] for each in answer["assumptions"])
    assert "line 3" in texts
    assert "fill.text=" in texts
