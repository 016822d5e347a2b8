"""What a work-group touches in one iteration of each loop, in some in a row, and as a whole."""

from __future__ import annotations

import pytest

from model.work.features.working_sets import TOGETHER, WorkingSet
from tests.model.conftest import Count

PRODUCT = """kernel void product(global const float *a, global const float *b, global float *c, int n) {
    int i = get_global_id(1), j = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}"""


def working(count: Count, text: str, size: tuple[int, ...], local: tuple[int, ...], **arguments: object) -> WorkingSet:
    return count(text, size, local, **arguments).counts.facts.working_set


def test_a_product_touches_a_row_and_a_column_an_iteration(count: Count) -> None:
    n, side = 256, 16
    buffers = dict.fromkeys("abc", n * n)
    whole = working(count, PRODUCT, (n, n), (side, side), n=n, buffers=buffers)
    assert whole.iterations == 1
    assert whole.line_bytes == 2 * side * n * 4 + side * side * 4
    (together,) = whole.inner
    assert together.iterations == n / TOGETHER
    assert together.line_bytes == 2 * side * 64  # sixteen rows of one line, and sixteen lines of a column's rows
    (each,) = together.inner
    assert each.iterations == n
    assert each.line_bytes == side * 64 + 64
    assert {access.buffer for access in each.own} == {"a", "b"}


def test_short_loops_are_not_parted(count: Count) -> None:
    text = """kernel void k(global const float *a, global float *b) {
        int i = get_global_id(0); float s = 0;
        for (int k = 0; k < 20; k++) s += a[i * 20 + k];
        b[i] = s; }"""
    whole = working(count, text, (1024,), (64,), buffers={"a": 20480, "b": 1024})
    (each,) = whole.inner
    assert each.iterations == 20
    assert each.inner == ()


@pytest.mark.parametrize("outer", [4, 64])
def test_what_an_outer_loop_repeats_is_touched_once_as_a_whole(count: Count, outer: int) -> None:
    text = """kernel void k(global const float *a, global float *b, int m, int n) {
        float s = 0;
        for (int q = 0; q < m; q++) for (int k = 0; k < n; k++) s += a[k];
        b[get_global_id(0)] = s; }"""
    whole = working(count, text, (1024,), (64,), m=outer, n=1024, buffers={"a": 1024, "b": 1024})
    inner = whole.inner[0]
    assert whole.line_bytes == pytest.approx(4096 + 256)
    assert inner.line_bytes == pytest.approx(4096)  # each iteration of the outer loop goes over all of it
