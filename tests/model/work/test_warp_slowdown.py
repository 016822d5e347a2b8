"""Lanes of a warp that part: both sides of a branch are executed, and a loop runs until the last lane leaves it."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill
from tests.model.conftest import Count

STEPS = " ".join("s = s * 1.5f + 1.0f;" for _ in range(20))


def kernel(body: str) -> str:
    return f"kernel void k(global float *x, int n) {{ int i = get_global_id(0); float s = x[i]; {body} x[i] = s; }}"


@pytest.mark.parametrize(
    ("body", "least", "most"),
    [
        (STEPS, 1.0, 1.0),
        (f"if (n > 5) {{ {STEPS} }}", 1.0, 1.0),  # all lanes alike
        (f"if (i % 2) {{ {STEPS} }} else {{ {STEPS.replace('1.5f', '2.5f')} }}", 1.7, 2.0),
        (f"if (i % 64 < 32) {{ {STEPS} }} else {{ {STEPS.replace('1.5f', '2.5f')} }}", 1.0, 1.0),  # whole warps part
        (f"if (i % 32 == 0) {{ {STEPS} }}", 4.0, 32.0),  # one lane of 32
        (f"if (i < n) {{ {STEPS} }}", 1.0, 1.01),  # but for the warp at the end
        (f"for (int j = 0; j < 1 + i % 32; j++) {{ {STEPS} }}", 1.8, 2.0),  # half the lanes, on average
    ],
    ids=["straight", "uniform", "odd and even", "whole warps", "one lane", "bounds", "uneven loop"],
)
def test_lanes_that_part_cost_their_warp(count: Count, body: str, least: float, most: float) -> None:
    counted = count(kernel(body), (4096,), (64,), n=4000, buffers={"x": 4096})
    assert least <= counted.counts.facts.warp_slowdown <= most + 1e-6


def test_branches_on_data_that_nobody_saw_are_not_taken_for_divergent(count: Count) -> None:
    text = "kernel void k(global float *x) { int i = get_global_id(0); float s = x[i]; if (s > 0.5f) { "
    counted = count(text + f"{STEPS} }} x[i] = s; }}", (4096,), (64,), buffers={"x": 4096}, fills={"x": Fill("zeros")})
    assert counted.counts.facts.warp_slowdown == 1.0
