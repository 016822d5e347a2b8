"""Private arrays that a GPU's registers hold, and those that stay in memory."""

from __future__ import annotations

import pytest

from tests.model.conftest import Count

HEAD = "kernel void k(global const float *a, global float *b, int n) { int i = get_global_id(0); float s = 0; "


def promoted(count: Count, body: str) -> tuple[set[str], float]:
    found = count(HEAD + body + " b[i] = s; }", (1024,), (64,), n=100, buffers={"a": 4096, "b": 1024})
    promotion = found.counts.facts.promotion
    return {name.partition(" ")[0] for name in promotion.arrays}, promotion.registers


def test_an_array_under_constant_loops_is_held_in_registers(count: Count) -> None:
    body = """float t[64]; for (int j = 0; j < 64; j++) t[j] = 0;
        for (int k = 0; k < n; k++) for (int j = 0; j < 64; j++) t[j] += a[k] * j + a[k + 1] * (j + 1) - a[k + 2];
        for (int j = 0; j < 64; j++) s += t[j];"""
    assert promoted(count, body) == ({"t"}, 64)


@pytest.mark.parametrize(
    "body",
    [
        "float t[64]; for (int j = 0; j < n; j++) t[j % 64] = a[j]; for (int j = 0; j < 64; j++) s += t[j];",
        "float t[64]; for (int j = 0; j < 64; j++) t[j] = a[j]; s = t[i & 63];",
        "float t[64]; for (int j = 0; j < 64; j++) t[j] = a[j]; s = t[(int)a[i]];",
        "float t[500]; for (int j = 0; j < 500; j++) t[j] = a[j]; for (int j = 0; j < 500; j++) s += t[499 - j];",
    ],
    ids=["run-time length", "by id", "by data", "too long to unroll"],
)
def test_an_array_that_is_indexed_at_run_time_stays_in_memory(count: Count, body: str) -> None:
    assert promoted(count, body) == (set(), 0)
