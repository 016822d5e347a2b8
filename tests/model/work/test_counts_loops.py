"""Loops: how often they run follows from the launch, by hand-computed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Fill
from model.work.counts import OpKind

Count = Callable[..., Any]


def test_a_loop_over_a_scalar_runs_that_often(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += x[i]; x[get_global_id(0)] = s; }"""
    counted = count(text, (64,), n=100)
    assert counted.counts.flops == 64 * 100
    assert counted.counts.global_load_bytes == 64 * 100 * 4
    assert counted.counts.global_store_bytes == 64 * 4


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("int i = 0; i < n; ++i", 100),
        ("int i = 0; i <= n; ++i", 101),
        ("int i = n; i > 0; --i", 100),
        ("int i = n - 1; i >= 0; i--", 100),
        ("int i = 3; i < n; i += 7", 14),
        ("int i = n; i >= 0; i -= 9", 12),
        ("int i = 0; i != n; i++", 100),
        ("int i = 0; n > i; i++", 100),
        ("uint i = 0; i < (uint)n; i++", 100),
        ("size_t i = 1; i < n; i *= 2", 7),
        ("int i = 1; i < n; i <<= 1", 7),
        ("int i = n; i > 0; i /= 2", 7),
        ("int i = n; i; i >>= 1", 7),
        ("int i = n / 2; i > 0; i >>= 1", 6),
        ("int i = 0; i < 10 && i < n; i++", 10),
        ("int i = 0, j = n; i < j; i++, j--", 50),
        ("int i = n; i < n; i++", 0),
        ("int i = 0; i < n - 200; i++", 0),
    ],
)
def test_every_usual_header_runs_as_c_says(count: Count, header: str, trips: int) -> None:
    text = f"__kernel void k(__global float *x, int n) {{ for ({header}) x[get_global_id(0) * 128 + i] = 1.0f; }}"
    assert count(text, (16,), n=100).counts.global_store_bytes == 16 * trips * 4


def test_while_and_do_loops_run_as_c_says(count: Count) -> None:
    body = "{ x[i * 8 + get_global_id(0)] = 0; i++; }"
    for loop, trips in ((f"while (i < n) {body}", 10), (f"do {body} while (i < n);", 10)):
        text = f"__kernel void k(__global float *x, int n) {{ int i = 0; {loop} }}"
        assert count(text, (8,), n=10).counts.global_store_bytes == 8 * trips * 4
    text = f"__kernel void k(__global float *x, int n) {{ int i = 0; do {body} while (i < n); }}"
    assert count(text, (8,), n=0).counts.global_store_bytes == 8 * 4, "a do loop runs at least once"


@pytest.mark.parametrize("n", [0, 1, 50])
def test_what_does_not_change_in_a_loop_is_computed_by_those_who_begin_it(count: Count, n: int) -> None:
    text = """__kernel void k(__global const float *restrict x, __global float *restrict y, int n, int m) {
        int g = get_global_id(0); float s = 0;
        for (int i = 0; i < n; i++) s += x[2 * g + 1] * (float)i;
        y[g] = s; }"""
    counted = count(text, (64,), n=n, m=5)
    assert counted.counts.global_load_bytes == (64 * 4 if n else 0), "once for a work-item, or never"


def test_what_decides_whether_a_loop_begins_is_loaded_by_all(count: Count) -> None:
    text = """__kernel void k(__global const int *restrict start, __global const float *restrict x,
                            __global float *restrict y) {
        int g = get_global_id(0); float s = 0;
        for (int i = start[g]; i < start[g + 1]; i++) s += x[g] * x[i + 1000];
        y[g] = s; }"""
    fills = {"start": Fill("zeros")}
    counted = count(text, (64,), (64,), fills=fills, buffers={"start": 65, "x": 2000})
    assert counted.counts.global_load_bytes == 64 * 2 * 4


@pytest.mark.parametrize(("n", "m"), [(3, 5), (3, 0), (0, 5)])
def test_what_changes_in_no_loop_moves_out_of_all(count: Count, n: int, m: int) -> None:
    text = """__kernel void k(__global const float *restrict x, __global float *restrict y, int n, int m) {
        int g = get_global_id(0); float s = 0;
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += x[g] * (float)(i + j);
        y[g] = s; }"""
    assert count(text, (64,), n=n, m=m).counts.global_load_bytes <= (64 * 4 if n else 0)


def test_a_grid_stride_loop_covers_all_elements_once(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) {
        for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = x[i] * 2.0f; }"""
    for n in (100, 1000, 1024, 5000, 100_003):
        counted = count(text, (1024,), (64,), n=n)
        assert counted.counts.global_load_bytes == pytest.approx(4 * n, rel=0.01)
        assert counted.counts.flops == pytest.approx(n, rel=0.01)


def test_a_tree_reduction_halves_its_work_items(count: Count) -> None:
    text = """__kernel void k(__global const float *x, __global float *y, __local float *t) {
        int l = get_local_id(0);
        t[l] = x[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
            if (l < s) t[l] += t[l + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == 0) y[get_group_id(0)] = t[0];
    }"""
    counted = count(text, (4096,), (256,))
    groups = 4096 // 256
    assert counted.counts.barriers == groups * (1 + 8)
    assert counted.counts.flops == groups * 255
    assert counted.counts.global_load_bytes == 4096 * 4
    assert counted.counts.global_store_bytes == groups * 4
    assert counted.counts.local_store_bytes == 4 * (4096 + groups * 255)


def test_a_doubling_loop_with_a_stride_counts_its_shrinking_share(count: Count) -> None:
    text = """__kernel void k(__global float *y) {
        __local float t[64]; int l = get_local_id(0); t[l] = l;
        for (int s = 1; s < get_local_size(0); s *= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (l % (2 * s) == 0) t[l] += t[l + s];
        }
        if (l == 0) y[get_group_id(0)] = t[0];
    }"""
    counted = count(text, (256,), (64,))
    assert counted.counts.barriers == 4 * 6
    assert counted.counts.flops == pytest.approx(4 * 63, rel=0.03)


def test_a_triangular_nest_is_half_a_square(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) { float s = 0;
        for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += x[i * n + j];
        x[get_global_id(0)] = s; }"""
    n = 200
    assert count(text, (16,), n=n).counts.flops == pytest.approx(16 * n * (n - 1) / 2, rel=0.03)


def test_a_loop_up_to_the_own_id_is_half_a_square(count: Count) -> None:
    text = """__kernel void k(__global float *x) { float s = 0; int g = get_global_id(0);
        for (int j = 0; j <= g; j++) s += x[j]; x[g] = s; }"""
    n = 4096
    assert count(text, (n,)).counts.flops == pytest.approx(n * (n + 1) / 2, rel=0.03)


def test_a_matmul_does_two_flops_a_step(count: Count) -> None:
    text = """__kernel void mm(__global const float *a, __global const float *b, __global float *c, int n) {
        int row = get_global_id(1), col = get_global_id(0); float s = 0;
        for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s; }"""
    n = 96
    counted = count(text, (n, n), (8, 8), n=n)
    assert counted.counts.flops == 2 * n**3
    assert counted.counts.global_load_bytes == 2 * 4 * n**3
    assert counted.counts.global_store_bytes == 4 * n * n
    assert counted.ops(OpKind.FMA) == n**3


def test_a_tiled_matmul_loads_each_tile_once(count: Count) -> None:
    text = """#define T 16
    __kernel void mm(__global const float *a, __global const float *b, __global float *c, int n) {
        __local float p[T][T], q[T][T];
        int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1); float s = 0;
        for (int t = 0; t < n / T; t++) {
            p[y][x] = a[row * n + t * T + x]; q[y][x] = b[(t * T + y) * n + col];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < T; k++) s += p[y][k] * q[k][x];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        c[row * n + col] = s; }"""
    n = 128
    counted = count(text, (n, n), (16, 16), n=n)
    assert counted.counts.flops == 2 * n**3
    assert counted.counts.global_load_bytes == 2 * 4 * n**3 / 16
    assert counted.counts.local_load_bytes == 2 * 4 * n**3
    assert counted.counts.local_bytes_per_group == 2 * 16 * 16 * 4
    assert counted.counts.barriers == (n // 16) ** 2 * (n // 16) * 2


def test_continue_skips_the_rest_of_an_iteration(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) { for (int i = 0; i < n; i++) {
        if (i % 4 == 0) continue; x[i + n * get_global_id(0)] = 1.0f; } }"""
    assert count(text, (8,), n=64).counts.global_store_bytes == pytest.approx(8 * 48 * 4, rel=0.03)


def test_break_under_a_known_condition_ends_the_loop(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) { for (int i = 0; i < 1000; i++) {
        if (i >= n) break; x[i + n * get_global_id(0)] = 1.0f; } }"""
    assert count(text, (8,), n=64).counts.global_store_bytes == pytest.approx(8 * 64 * 4, rel=0.03)


def test_an_endless_loop_left_by_break_is_counted(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) { int i = 0; while (1) {
        x[i + n * get_global_id(0)] = 1.0f; if (++i >= n) break; } }"""
    assert count(text, (8,), n=50).counts.global_store_bytes == pytest.approx(8 * 50 * 4, rel=0.05)


def test_a_break_that_the_data_decide_is_named_with_its_line(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.5f) break;
        x[i] = 1.0f;
    } }"""
    counted = count(text, (8,), n=100, buffers={"x": 100})
    assert 0 < counted.counts.global_store_bytes <= 8 * 100 * 4
    assert "line 2" in counted.said


def test_a_data_dependent_while_is_a_named_parameter_not_a_silent_guess(count: Count) -> None:
    text = """__kernel void k(__global float *x) {
    float v = x[get_global_id(0)];
    while (v > 1.0f) v *= 0.5f;
    x[get_global_id(0)] = v; }"""
    counted = count(text, (64,))
    assert "line 3" in counted.said
    assert any(p.name.startswith("loop") and p.spread > 1 for p in counted.work.parameters.values())


CSR = """__kernel void spmv(__global const int *rows, __global const int *cols, __global const float *v,
    __global const float *x, __global float *y, int n) {
    int r = get_global_id(0); if (r >= n) return; float s = 0;
    for (int j = rows[r]; j < rows[r + 1]; j++) s += v[j] * x[cols[j]];
    y[r] = s; }"""


def test_rows_of_a_sparse_matrix_follow_the_row_pointers(count: Count) -> None:
    buffers = {"rows": 1001, "cols": 16_000, "v": 16_000, "x": 1000, "y": 1000}
    counted = count(CSR, (1000,), n=1000, buffers=buffers, fills={"rows": Fill("csr_rows", (16_000,))})
    assert counted.counts.flops == pytest.approx(2 * 16_000, rel=0.01)
    assert sum(a.bytes for a in counted.accesses("v")) == pytest.approx(16_000 * 4, rel=0.01)
    skewed = count(CSR, (1000,), n=1000, buffers=buffers, fills={"rows": Fill("csr_rows", (16_000, 1.0))})
    assert skewed.counts.flops == pytest.approx(2 * 16_000, rel=0.01)


def test_what_does_not_change_moves_out_of_the_loop(count: Count) -> None:
    text = """__kernel void k(__global const float *x, __global float *y, int n, float a, float b) {
        int g = get_global_id(0); float s = 0;
        for (int i = 0; i < n; i++) s += x[i] + sin(a) * x[g];
        y[g] = s; }"""
    counted = count(text, (32,), n=100)
    assert counted.ops(OpKind.SPECIAL) == 32
    assert counted.counts.global_load_bytes == 32 * 4 * 101


def test_a_loop_invariant_load_stays_inside_when_the_loop_stores_to_the_buffer(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n) { int g = get_global_id(0);
        for (int i = 0; i < n; i++) x[g + i] += x[0]; }"""
    assert count(text, (32,), n=10).counts.global_load_bytes == 32 * 10 * 2 * 4


def test_equal_subexpressions_are_computed_once(count: Count) -> None:
    text = """__kernel void k(__global const float *x, __global float *y) { int g = get_global_id(0);
        y[g] = sqrt(x[g]) + sqrt(x[g]); }"""
    counted = count(text, (32,))
    assert counted.ops(OpKind.SQRT) == 32
    assert counted.counts.global_load_bytes == 32 * 4


def test_loops_of_loops_multiply(count: Count) -> None:
    text = """__kernel void k(__global float *x, int n, int m) { float s = 0;
        for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) s += x[i * m + j]; s *= 2.0f; }
        x[get_global_id(0)] = s; }"""
    assert count(text, (16,), n=7, m=11).counts.flops == 16 * (7 * 11 + 7)


def test_unrolled_and_labelled_loops_count_like_others(count: Count) -> None:
    text = """__kernel void k(__global float *x) { float s = 0;
        #pragma unroll 4
        for (int i = 0; i < 8; i++) s += x[i];
        __attribute__((opencl_unroll_hint(2))) for (int i = 0; i < 8; i++) s *= x[i];
        x[get_global_id(0)] = s; }"""
    assert count(text, (16,)).counts.flops == 16 * 16


def test_a_loop_that_nothing_comes_of_is_not_executed(count: Count) -> None:
    text = """__kernel void k(__global const float *a, __global float *o, int n) {
        float s = 0; for (int j = 0; j < n; j++) s += a[j]; o[get_global_id(0)] = 1.0f; }"""
    counts = count(text, (64,), scalars={"n": 100}, buffers={"a": 100, "o": 64}).counts
    assert sum(op.count for op in counts.ops) == 0
    assert counts.global_load_bytes == 0


def test_a_loop_that_finds_a_place_is_executed(count: Count) -> None:
    text = """__kernel void k(__global const int *a, __global int *o) {
        int c = 0; while (a[c] != 0) c++; o[get_global_id(0)] = c; }"""
    assert count(text, (64,), buffers={"a": 100, "o": 64}).counts.global_load_bytes > 0
