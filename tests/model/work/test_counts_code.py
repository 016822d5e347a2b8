"""Everything but loops: branches, helpers, vectors, memory of all kinds, by hand-computed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.errors import AnalysisError
from model.work.counts import OpKind

Count = Callable[..., Any]


def kernel(body: str, parameters: str = "__global float *x") -> str:
    return f"__kernel void k({parameters}) {{ int g = get_global_id(0); {body} }}"


# --- branches --------------------------------------------------------------------------------------------------------


def test_a_guard_lets_exactly_n_work_items_in(count: Count) -> None:
    text = """__kernel void vadd(__global const float *a, __global const float *b, __global float *c, int n) {
        int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }"""
    for n in (0, 1, 100, 1000, 1024, 4000):
        counted = count(text, (1024,), (64,), n=n)
        inside = min(n, 1024)
        assert counted.counts.flops == pytest.approx(inside)
        assert counted.counts.global_load_bytes == pytest.approx(8 * inside)
        assert counted.counts.global_store_bytes == pytest.approx(4 * inside)


def test_what_follows_an_early_return_runs_for_the_others_only(count: Count) -> None:
    body = "if (g >= n) return; x[g] = 1.0f; x[g + n] = 2.0f;"
    counted = count(kernel(body, "__global float *x, int n"), (1024,), n=100)
    assert counted.counts.global_store_bytes == pytest.approx(2 * 4 * 100)


def test_a_guard_in_two_dimensions_cuts_a_rectangle(count: Count) -> None:
    text = """__kernel void k(__global float *x, int w, int h) { int i = get_global_id(0), j = get_global_id(1);
        if (i < w && j < h) x[j * w + i] = 1.0f; }"""
    assert count(text, (128, 128), (16, 16), w=100, h=50).counts.global_store_bytes == pytest.approx(4 * 100 * 50)


def test_both_sides_of_an_if_share_the_work_items(count: Count) -> None:
    body = "if (g < 10) x[g] = sin(x[g]); else x[g] = sqrt(x[g]);"
    counted = count(kernel(body), (100,))
    assert counted.ops(OpKind.SPECIAL) == pytest.approx(10)
    assert counted.ops(OpKind.SQRT) == pytest.approx(90)


def test_else_if_chains_and_remainders_split_exactly(count: Count) -> None:
    body = "if (g % 4 == 0) x[g] = 1; else if (g % 4 == 1) { x[g] = 1; x[g + 1] = 2; } else x[g] = 0;"
    assert count(kernel(body), (64,)).counts.global_store_bytes == pytest.approx(4 * (64 + 16), rel=0.03)


def test_a_switch_runs_the_chosen_case(count: Count) -> None:
    body = "switch (m) { case 0: x[g] = 1; break; case 1: x[g] = 1; x[g+1] = 1; break; default: x[g] = x[g+1]; }"
    text = kernel(body, "__global float *x, int m")
    assert [count(text, (8,), m=m).counts.global_store_bytes for m in (0, 1, 2)] == [32, 64, 32]
    assert [count(text, (8,), m=m).counts.global_load_bytes for m in (0, 1, 2)] == [0, 0, 32]


def test_several_labels_share_one_case(count: Count) -> None:
    body = "switch (m) { case 0: case 1: x[g] = 1; break; default: break; }"
    text = kernel(body, "__global float *x, int m")
    assert [count(text, (8,), m=m).counts.global_store_bytes for m in (0, 1, 2)] == [32, 32, 0]


def test_labels_that_share_a_case_share_its_work_items_exactly(count: Count) -> None:
    body = "switch (g % 4) { case 0: x[g] = 1; break; case 1: break; case 2: case 3: x[g] = x[g + 1]; break; }"
    counted = count(kernel(body), (64,))
    assert counted.counts.global_load_bytes == pytest.approx(4 * 32)
    assert counted.counts.global_store_bytes == pytest.approx(4 * 48)


def test_a_ternary_loads_only_what_it_chooses(count: Count) -> None:
    text = kernel("x[g] = g < 16 ? x[g + 1] : 0.0f;")
    assert count(text, (64,)).counts.global_load_bytes == pytest.approx(4 * 16)


def test_a_short_circuit_loads_only_what_it_must(count: Count) -> None:
    text = kernel("if (g < 16 && x[g] > 0) x[g] = 0;")
    assert count(text, (64,), buffers={"x": 64}).counts.global_load_bytes == pytest.approx(4 * 16)


def test_a_condition_on_data_is_named_with_its_line(count: Count) -> None:
    counted = count(kernel("\nif (x[g] > 0.5f)\n x[g] = sqrt(x[g]);"), (64,))
    assert 0 < counted.ops(OpKind.SQRT) <= 64
    assert "line 2" in counted.said


def test_constants_decide_branches_while_reading(count: Count) -> None:
    text = "#define FAST 1\n" + kernel("if (FAST) x[g] = 1; else x[g] = sin(x[g]);")
    counted = count(text, (64,))
    assert counted.ops(OpKind.SPECIAL, OpKind.BRANCH) == 0


# --- arithmetic ------------------------------------------------------------------------------------------------------


def test_operations_count_by_kind(count: Count) -> None:
    counted = count(kernel("x[g] = (x[g] + 1.0f) / x[g + 1] * sin(x[g + 2]);"), (10,))
    kinds = (OpKind.ADD, OpKind.DIVIDE, OpKind.MUL, OpKind.SPECIAL)
    assert [counted.ops(kind) for kind in kinds] == [10, 10, 10, 10]


def test_a_product_and_a_sum_become_one_fma(count: Count) -> None:
    for body in ("x[g] = x[g] * x[g+1] + x[g+2];", "x[g] = fma(x[g], x[g+1], x[g+2]);", "x[g] += x[g+1] * x[g+2];"):
        counted = count(kernel(body), (10,))
        assert (counted.ops(OpKind.FMA), counted.counts.flops) == (10, 20), body


def test_constants_fold(count: Count) -> None:
    assert count(kernel("x[g] = 2.0f * 3.0f + 1.0f;"), (10,)).counts.flops == 0


def test_integer_division_is_dear_unless_by_a_power_of_two(count: Count) -> None:
    text = kernel("x[g] = g / m + g / 8;", "__global int *x, int m")
    assert count(text, (10,), m=3).ops(OpKind.INT_DIVIDE) == 10


def test_vectors_count_every_component(count: Count) -> None:
    counted = count(kernel("x[g] = x[g] * 2.0f;", "__global float4 *x"), (10,))
    assert counted.counts.flops == 40
    assert counted.counts.global_load_bytes == 160


def test_a_vector_of_three_moves_four_components_through_a_pointer_and_three_through_vload3(count: Count) -> None:
    counted = count(kernel("x[g] = x[g] + (float3)(1, 2, 3);", "__global float3 *x"), (10,))
    assert counted.counts.flops == 30
    assert counted.counts.global_load_bytes == 160
    assert counted.access("x", store=True).stride_bytes == 16
    counted = count(kernel("vstore3(vload3(g, x) + 1.0f, g, x);"), (10,))
    assert (counted.counts.global_load_bytes, counted.counts.global_store_bytes) == (120, 120)


def test_components_are_written_one_by_one_and_the_others_left_alone(count: Count) -> None:
    counted = count(kernel("x[g].s0 = x[g + 1].lo.y;", "__global float4 *x"), (10,))
    assert (counted.counts.global_load_bytes, counted.counts.global_store_bytes) == (40, 40)
    counted = count(kernel("x[g].xy = (float2)(1, 2);", "__global float4 *x"), (10,))
    assert (counted.counts.global_load_bytes, counted.counts.global_store_bytes) == (0, 80)


def test_double_and_half_have_their_own_widths(count: Count) -> None:
    counted = count(kernel("y[g] = (double)x[g] * 2.0;", "__global const half *x, __global double *y"), (10,))
    assert (counted.counts.global_load_bytes, counted.counts.global_store_bytes) == (20, 80)
    assert {o.element for o in counted.counts.ops if o.kind is OpKind.MUL} == {"f64"}


def test_half_literals_keep_halves_what_they_are(count: Count) -> None:
    counted = count(kernel("x[g] = x[g] * 2.5h + 1.h;", "__global half *x"), (10,))
    assert {(o.kind, o.element) for o in counted.counts.ops if o.count and o.element[0] == "f"} == {(OpKind.FMA, "f16")}


def test_vload_and_vstore_move_n_elements(count: Count) -> None:
    text = kernel("float4 v = vload4(g, x); vstore2(v.xy, g, y);", "__global const float *x, __global float *y")
    counted = count(text, (10,))
    assert (counted.counts.global_load_bytes, counted.counts.global_store_bytes) == (160, 80)
    assert counted.access("x").stride_bytes == 16


def test_dot_and_length_count_their_components(count: Count) -> None:
    counted = count(kernel("y[g] = dot(x[g], x[g + 1]);", "__global const float4 *x, __global float *y"), (10,))
    assert counted.counts.flops == pytest.approx(70, rel=0.15)  # 4 products, 3 sums; as fmas 8


# --- helpers ---------------------------------------------------------------------------------------------------------


def test_helpers_count_where_they_are_called(count: Count) -> None:
    helpers = """float twice(float v) { return v + v; }
        float4 scaled(float4 v, float f) { return v * f; }
        void put(__global float *p, int i, float v) { p[i] = twice(v); }
        void both(float v, float *a, float *b) { *a = v + 1.0f; *b = v - 1.0f; }
        """
    assert count(helpers + kernel("x[g] = twice(x[g]);"), (10,)).counts.flops == 10
    assert count(helpers + kernel("x[g] = scaled(x[g], 2.0f);", "__global float4 *x"), (10,)).counts.flops == 40
    counted = count(helpers + kernel("put(x, g, x[g]); put(x + 10, g, 1.5f);"), (10,))
    assert counted.counts.global_store_bytes == 80
    assert len(counted.accesses("x", store=True)) == 2
    counted = count(helpers + kernel("float a, b; both(x[g], &a, &b); x[g] = a * b;"), (10,))
    assert counted.counts.flops == 30


def test_helpers_with_loops_and_returns_in_between(count: Count) -> None:
    helper = """int first(__global const int *p, int n) { for (int i = 0; i < n; i++)
        if (p[i] == 7) return i; return -1; }
        """
    counted = count(helper + kernel("y[g] = first(y, n);", "__global int *y, int n"), (10,), n=20, buffers={"y": 20})
    assert 0 < counted.counts.global_load_bytes <= 10 * 20 * 4
    assert counted.counts.global_store_bytes == 40


def test_recursion_is_refused_by_name(count: Count) -> None:
    text = "float f(float v) { return v > 1 ? f(v - 1) : v; }\n" + kernel("x[g] = f(x[g]);")
    with pytest.raises(AnalysisError, match="`f` calls itself"):
        count(text, (10,))


def test_what_nothing_declares_is_named(count: Count) -> None:
    counted = count(kernel("x[g] = mystery(x[g]) + LENGTH;"), (10,))
    assert "`mystery` is not declared" in counted.said
    assert [name for name, _ in counted.work.free_names] == ["LENGTH"]


# --- memory ----------------------------------------------------------------------------------------------------------


def test_atomics_count_once_each(count: Count) -> None:
    text = kernel("atomic_add(&c[x[g]], 1); atomic_inc(c);", "__global const int *x, __global int *c")
    assert count(text, (64,), buffers={"x": 64, "c": 16}).counts.atomics == 128


def test_images_count_reads_and_writes(count: Count) -> None:
    text = """__kernel void k(read_only image2d_t a, write_only image2d_t b, sampler_t s) {
        int2 p = (int2)(get_global_id(0), get_global_id(1));
        write_imagef(b, p, read_imagef(a, s, p) + read_imagef(a, s, p + 1)); }"""
    counted = count(text, (32, 32), images={"a": (32, 32, 1), "b": (32, 32, 1)})
    assert (counted.counts.image_reads, counted.counts.image_writes) == (2 * 1024, 1024)
    assert counted.counts.global_load_bytes == 0


def test_an_image_is_read_anew_at_each_place_whatever_the_sampler_is_written_as(count: Count) -> None:
    text = """const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    __kernel void k(read_only image2d_t a, write_only image2d_t b, int n) {
        for (int i = get_global_id(0); i < n; i += get_global_size(0))
            write_imagef(b, (int2)(i, 0), read_imagef(a, s, (int2)(i, 0))); }"""
    images = {"a": (4096, 1, 1), "b": (4096, 1, 1)}
    assert count(text, (64,), scalars={"n": 4096}, images=images).counts.image_reads == 4096
    assert count(text, (64,), scalars={"n": 10}, images=images).counts.image_reads == 10


def test_structs_by_value_are_scalars_of_the_launch(count: Count) -> None:
    text = """typedef struct { int n; float scale; int2 at; } P;
        __kernel void k(__global float *x, P p) { int g = get_global_id(0);
        if (g < p.n) x[g + p.at.x] = p.scale; }"""
    counted = count(text, (64,), scalars={"p.n": 10, "p.scale": 2.0, "p.at.x": 0, "p.at.y": 0})
    assert counted.counts.global_store_bytes == pytest.approx(40)


def test_arrays_of_structs_are_strided_by_their_size(count: Count) -> None:
    text = """typedef struct { float4 p; float m; } B;
        __kernel void k(__global const B *b, __global float *y) { int g = get_global_id(0); y[g] = b[g].m; }"""
    counted = count(text, (64,), buffers={"b": 64, "y": 64})
    assert counted.access("b").stride_bytes == 32
    assert counted.counts.global_load_bytes == 64 * 4


def test_private_arrays_stay_out_of_global_memory(count: Count) -> None:
    body = "float t[8]; for (int i = 0; i < n; i++) t[i] = x[g]; x[g] = t[n - 1];"
    counted = count(kernel(body, "__global float *x, int n"), (16,), n=8)
    assert counted.counts.private_array_bytes == 32
    assert counted.counts.global_load_bytes == 16 * 4
    assert counted.counts.global_store_bytes == 16 * 4


def test_constant_memory_is_counted_apart(count: Count) -> None:
    text = kernel("x[g] = c[g % 4];", "__global float *x, __constant float *c")
    counted = count(text, (16,))
    assert (counted.counts.constant_load_bytes, counted.counts.global_load_bytes) == (64, 0)


def test_an_async_copy_moves_its_elements_once_a_group(count: Count) -> None:
    text = """__kernel void k(__global const float *x, __global float *y) {
        __local float t[64];
        event_t e = async_work_group_copy(t, x + get_group_id(0) * 64, 64, 0);
        wait_group_events(1, &e);
        y[get_global_id(0)] = t[get_local_id(0)]; }"""
    counted = count(text, (256,), (64,), buffers={"x": 256, "y": 256})
    assert counted.counts.global_load_bytes == pytest.approx(256 * 4)
    assert counted.counts.local_store_bytes == pytest.approx(256 * 4)


def test_barriers_count_once_a_group(count: Count) -> None:
    text = kernel("barrier(CLK_LOCAL_MEM_FENCE); x[g] = 1; barrier(CLK_GLOBAL_MEM_FENCE);")
    assert count(text, (256,), (32,)).counts.barriers == 16


# --- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "pattern", "stride"),
    [
        ("g", "unit", 4),
        ("0", "broadcast", 0),
        ("n", "broadcast", 0),
        ("get_group_id(0)", "broadcast", 0),
        ("g + 5", "unit", 4),
        ("n - g", "unit", 4),
        ("2 * g", "strided", 8),
        ("g * n", "strided", 400),
        ("g * 32 + 1", "strided", 128),
        ("get_group_id(0) * get_local_size(0) + get_local_id(0)", "unit", 4),
        ("g % 64", "unit", 4),
        ("g & 1023", "unit", 4),
        ("g / 16", "broadcast", 0),
        ("i[g]", "gathered", 0),
        ("i[g] * 4 + g", "gathered", 0),
        ("i[0]", "broadcast", 0),
    ],
)
def test_an_index_is_classed_by_its_distance_between_neighbours(
    count: Count, index: str, pattern: str, stride: int
) -> None:
    text = kernel(f"y[g] = x[{index}];", "__global const float *x, __global const int *i, __global float *y, int n")
    counted = count(text, (1024,), (64,), n=100, buffers={"x": 1 << 17, "y": 1024, "i": 1024})
    assert (counted.access("x").pattern, counted.access("x").stride_bytes) == (pattern, stride)


def test_columns_are_strided_and_rows_are_unit_in_two_dimensions(count: Count) -> None:
    text = """__kernel void t(__global const float *a, __global float *b, int n) {
        int x = get_global_id(0), y = get_global_id(1); b[x * n + y] = a[y * n + x]; }"""
    counted = count(text, (64, 64), (8, 8), n=64, buffers={"a": 4096, "b": 4096})
    assert counted.access("a").pattern == "unit"
    assert (counted.access("b").pattern, counted.access("b").stride_bytes) == ("strided", 256)


def test_a_footprint_is_what_is_touched_not_what_is_requested(count: Count) -> None:
    text = kernel("float s = 0; for (int i = 0; i < 100; i++) s += x[i]; y[g] = s;",
                  "__global const float *x, __global float *y")  # fmt: skip
    counted = count(text, (1000,), buffers={"x": 100_000, "y": 1000})
    assert counted.access("x").footprint_bytes == 400
    assert counted.counts.global_footprint_bytes == 400 + 4000


def test_every_cost_stands_on_its_own_line(count: Count) -> None:
    text = (
        "__kernel void k(__global float *x) {\n int g = get_global_id(0);\n float v = x[g];\n v = sin(v);\n x[g] = v; }"
    )
    lines = {line.line: line for line in count(text, (8,)).counts.lines}
    assert any(a.buffer == "x" and not a.is_store for a in lines[2].accesses)
    assert any(o.kind is OpKind.SPECIAL for o in lines[3].ops)
    assert any(a.is_store for a in lines[4].accesses)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("(g * (n)) + i", "g * n + i"),
        ("(g * ((n))) - i", "g * n - i"),
        ("(g * (n * m)) + i", "g * n * m + i"),
        ("(g * (size[2])) + i", "g * size[2] + i"),
        ("(g * (min(n, m))) & i", "g * min(n, m) & i"),
        ("((g) * (n)) + i", "g * n + i"),
        ("(half_of(n)) + (twice()) - i", "n / 2 + 2 - i"),
        ("(uint)*(y + i) & 63", "*(y + i) & 63"),
        ("(uint)(n) - i * m", "n - i * m"),
        ("(n * (uint)-i) & 63", "(n * (0 - i)) & 63"),
        ("(g * (n)) && (i < (m * (n)) && g)", "g * n && i < m * n && g"),
    ],
)
def test_casts_and_parentheses_are_told_apart(count: Count, written: str, meant: str) -> None:
    helpers = "int half_of(int n) { return n / 2; } int twice() { return 2; }"
    body = "__kernel void k(__global int *y, int n, int m) {{ int g = get_global_id(0), i = get_global_id(1);"
    body += " int size[3] = {{n, m, 7}}; y[{}] = 1; if (i < (n * (m)) && g < n) y[g] = 2; }}"
    found = [count(helpers + body.format(text), (64, 64), n=5, m=3).counts for text in (written, meant)]
    assert [(a.pattern, a.count, a.stride_bytes) for a in found[0].accesses] == [
        (a.pattern, a.count, a.stride_bytes) for a in found[1].accesses
    ]
    assert found[0].accesses[-1].count == 5 * 15
