"""What compiled code executes, not what is written: by numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.work.counts import OpKind

Count = Callable[..., Any]

BUFFERS = "__global const float *restrict x, __global float *restrict y, int n"


def kernel(body: str, parameters: str = BUFFERS) -> str:
    return f"__kernel void k({parameters}) {{ int g = get_global_id(0); {body} }}"


def bytes_moved(counted: Any) -> tuple[float, float]:
    return counted.counts.global_load_bytes, counted.counts.global_store_bytes


def test_what_nothing_rests_on_is_not_executed(count: Count) -> None:
    body = "float b = 0; for (int i = 0; i < n; i++) b += x[i]; float c = sin(b) * b; y[g] = x[g];"
    counted = count(kernel(body), (10,), n=100)
    assert counted.counts.flops == 0
    assert bytes_moved(counted) == (40, 40)


TILE = "__local float t[64]; t[get_local_id(0)] = x[g]; barrier(CLK_LOCAL_MEM_FENCE); float s = exp(t[g % 64]);"


def test_of_a_kernel_that_leaves_nothing_behind_nothing_is_executed(count: Count) -> None:
    """A tile that is filled, barriers and all: whoever has not yet typed the store has a kernel that does nothing."""
    nothing, whole = count(kernel(TILE), (64,), (64,)), count(kernel(TILE + " y[g] = s;"), (64,), (64,))
    assert (nothing.counts.flops, nothing.counts.barriers, bytes_moved(nothing)) == (0, 0, (0, 0))
    assert (whole.counts.barriers, bytes_moved(whole)) == (1, (256, 256))


@pytest.mark.parametrize("trace", ["atomic_inc(c);", 'printf("%f", s);', "unheard_of(x);"])
def test_what_may_leave_something_behind_is_executed(count: Count, trace: str) -> None:
    counted = count(kernel(f"{TILE} {trace}", f"{BUFFERS}, __global int *c"), (64,), (64,))
    assert counted.counts.barriers == 1


@pytest.mark.parametrize(
    ("body", "idle", "busy"),
    [
        (
            "for (int i = g; i < 1000; i += 64) { float v = x[i]; for (int j = 0; j < 8 / n; j++) y[i * 8 + j] += v; }",
            100,
            1,
        ),
        ("float v = exp(x[g]); if (n == 1) y[g] = v; if (n < 5) y[g + 1] = v * v;", 100, 1),
        ("int part = n / (4 * get_global_size(0)); for (int i = 0; i < part; i++) y[g * part + i] *= 2;", 100, 1000),
    ],
)
def test_of_a_launch_whose_arguments_let_nobody_store_nothing_is_executed(
    count: Count, body: str, idle: int, busy: int
) -> None:
    nothing, whole = (count(kernel(body), (64,), (64,), n=n).counts for n in (idle, busy))
    assert (nothing.ops, nothing.accesses) == ((), ())
    assert whole.ops
    assert any(access.is_store and access.count >= 64 for access in whole.accesses)


@pytest.mark.parametrize(("n", "lines"), [(100, 0), (1, 1)])
def test_of_a_launch_that_does_nothing_no_length_of_a_loop_is_guessed(count: Count, n: int, lines: int) -> None:
    body = "float v = 0; for (int i = 0; i < (int)x[g]; i++) v += sin(v); if (n == 1) y[g] = v;"
    assert len(count(kernel(body), (64,), (64,), n=n).counts.undecided_loops) == lines


@pytest.mark.parametrize("guard", ["g < n", "x[g] > n", "g / 64 > n"])
def test_what_ids_or_the_data_decide_is_asked_by_every_work_item(count: Count, guard: str) -> None:
    counted = count(kernel(f"if ({guard}) y[g] = 1;"), (64,), (64,), n=0)
    assert sum(op.count for op in counted.counts.ops) >= 64


@pytest.mark.parametrize("trace", ['printf("%d", g);', "unheard_of(x);"])
def test_a_launch_that_stores_nothing_but_may_leave_another_trace_is_executed(count: Count, trace: str) -> None:
    counted = count(kernel(f"float v = exp(x[g]); if (n == 1) y[g] = v; {trace}"), (64,), (64,), n=100)
    assert counted.counts.ops


@pytest.mark.parametrize("zero", ["x[g] ^ x[g]", "x[g] & 0", "(x[g] | x[g]) - x[g]", "(x[g] ^ 0) - (x[g] >> 0)"])
def test_a_sum_of_what_is_always_zero_is_not_computed(count: Count, zero: str) -> None:
    body = f"int s = 0; for (int i = start[g]; i < start[g + 1]; i++) s += {zero}; y[g] = s;"
    parameters = "__global const int *restrict x, __global const int *restrict start, __global int *restrict y"
    counted = count(kernel(body, parameters), (64,), (64,))
    assert bytes_moved(counted) == (0, 256)


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("0.3f * 0.3f > 0.75f", False),
        ("1.0f != 0.0f", True),
        ("0.5f == 0.5f", True),
        ("2.0f == 2.0f", True),
        ("-2.0f >= 1.5f", False),
    ],
)
def test_conditions_of_known_floats_are_decided(count: Count, condition: str, runs: bool) -> None:
    """Before what they guard is asked for: what only the other side needs is not executed, either."""
    counted = count(kernel(f"if ({condition}) y[g] = exp(x[g]); else y[g + n] = sin(x[g]);"), (64,), (64,), n=64)
    found = {op.function for op in counted.counts.ops} & {"exp", "sin"}
    assert found == ({"exp"} if runs else {"sin"})


def test_only_the_members_of_a_struct_that_are_used_are_loaded(count: Count) -> None:
    text = "typedef struct { float4 p; float m; int k[3]; } body;" + kernel(
        "body b = s[g]; y[g] = b.m + b.p.y;", "__global const body *s, __global float *y"
    )
    assert count(text, (10,)).counts.global_load_bytes == 80


def test_an_array_in_a_struct_that_is_read_and_written_back_is_not_moved(count: Count) -> None:
    text = "typedef struct { float m; float f; int near[64]; } body;" + kernel(
        "body b = s[g]; b.f += b.m; s[g] = b;", "__global body *s"
    )
    assert bytes_moved(count(text, (10,))) == (80, 40)
    copied = text.replace("s[g] = b", "s[g + 10] = b")
    assert bytes_moved(count(copied, (10,)))[1] == 10 * (64 * 4 + 8)


@pytest.mark.parametrize("index", ["g / n * n + g % n", "g % n + n * (g / n)", "(g & 15) + ((g >> 4) << 4)"])
def test_an_index_taken_apart_and_put_together_is_not_divided(count: Count, index: str) -> None:
    counted = count(kernel(f"y[{index}] = x[{index} + n / 2];"), (16,), n=8).counts
    plain = count(kernel("y[g] = x[g + n / 2];"), (16,), n=8).counts
    assert {(op.kind, op.count) for op in counted.ops} == {(op.kind, op.count) for op in plain.ops}
    assert [each.pattern for each in counted.accesses] == [each.pattern for each in plain.accesses]


def test_what_was_just_stored_is_not_loaded(count: Count) -> None:
    assert bytes_moved(count(kernel("y[g] = x[g] + 1; y[g] = y[g] * 2;"), (10,))) == (40, 80)


def test_a_store_that_may_overlap_makes_a_load_necessary_and_restrict_does_not(count: Count) -> None:
    body = "float a = x[g]; y[g + n] = a; y[g] = x[g];"
    assert count(kernel(body), (10,), n=64).counts.global_load_bytes == 40
    plain = kernel(body, "__global float *x, __global float *y, int n")
    assert count(plain, (10,), n=64).counts.global_load_bytes == 80
    other_type = kernel("float a = x[g]; y[g + n] = (int)a; y[g] = x[g];", "__global float *x, __global int *y, int n")
    assert count(other_type, (10,), n=64).counts.global_load_bytes == 40


def test_a_sum_in_memory_is_loaded_once_and_stored_once_where_nothing_overlaps(count: Count) -> None:
    body = "for (int i = 0; i < n; i++) y[g] += x[i];"
    assert bytes_moved(count(kernel(body), (1,), n=100)) == (404, 4)
    plain = kernel(body, "__global float *x, __global float *y, int n")
    assert bytes_moved(count(plain, (1,), n=100)) == (404, 400)


def test_private_arrays_of_unrolled_loops_are_registers_that_keep_their_values(count: Count) -> None:
    body = "float a[4]; for (int i = 0; i < 4; i++) a[i] = x[g]; for (int i = 0; i < 4; i++) y[g + i] = a[i] * a[0];"
    counted = count(kernel(body), (10,))
    assert counted.ops(OpKind.MUL) == 10  # all four products are the same one
    assert counted.counts.global_load_bytes == 40


def test_counters_of_unrolled_loops_are_known(count: Count) -> None:
    body = "float s = 0; for (int i = 0; i < 10; i++) s += x[g + i] * (i * 0.5f); y[g] = s;"
    assert count(kernel(body), (10,)).counts.flops == 10 * 10 * 2


def test_constant_tables_decide_conditions_and_indices(count: Count) -> None:
    text = "__constant int at[] = {0, -1, 5}; " + kernel(
        "for (int d = 0; d < sizeof(at) / sizeof(at[0]); ++d) if (at[d] >= 0) y[g + at[d]] = 1;"
    )
    assert count(text, (10,)).counts.global_store_bytes == 80


def test_both_sides_of_a_short_branch_are_computed_and_one_is_chosen(count: Count) -> None:
    assert count(kernel("float s = x[g]; if (g < 4) s = s * 2.0f; y[g] = s;"), (10,)).counts.flops == 10
    dear = "float s = x[g]; if (g < 4) s = sin(s); y[g] = s;"
    assert count(kernel(dear), (10,)).counts.flops == 4


@pytest.mark.parametrize(
    ("written", "flops"),
    [("v * 1.0f", 0), ("v / 1.0f", 0), ("v - 0.0f", 0), ("v + 0.0f", 1), ("v * 0.0f", 1), ("v * -1.0f", 0)],
)
def test_algebra_keeps_to_what_holds_for_every_float(count: Count, written: str, flops: int) -> None:
    assert count(kernel(f"float v = x[g]; y[g] = {written};"), (1,)).counts.flops == flops


def test_comparisons_and_minima_are_no_flops(count: Count) -> None:
    counted = count(kernel("y[g] = fmin(x[g], 1.0f) < floor(x[g]) ? 1.0f : 2.0f;"), (10,))
    assert counted.counts.flops == 0
    assert (counted.ops(OpKind.COMPARE), counted.ops(OpKind.SIMPLE)) == (10, 20)


def test_a_vector_operation_is_one_instruction_of_its_width(count: Count) -> None:
    counted = count(kernel("y[g] = x[g] * x[g + 1];", "__global const float4 *x, __global float4 *y"), (10,))
    (product,) = [op for op in counted.counts.ops if op.kind is OpKind.MUL]
    assert (product.count, product.width, product.count / product.width) == (40, 4, 10)


def test_special_functions_are_one_flop_each_and_known_by_name(count: Count) -> None:
    counted = count(kernel("y[g] = pow(x[g], 1.5f) + native_sin(x[g]);"), (10,))
    assert {op.function: op.count for op in counted.counts.ops if op.function} == {"pow": 10, "native_sin": 10}
    assert counted.counts.flops == 30


def test_a_dot_product_starts_with_a_product(count: Count) -> None:
    counted = count(kernel("y[g] = dot(x[g], x[g + 1]);", "__global const float4 *x, __global float *y"), (10,))
    assert (counted.ops(OpKind.MUL), counted.ops(OpKind.FMA)) == (10, 30)


# --- ways out --------------------------------------------------------------------------------------------------------


def test_what_follows_a_return_inside_two_ifs_runs_for_the_others(count: Count) -> None:
    body = "if (g < 8) { if (g < 3) return; y[g + 100] = 1; } y[g] = 1;"
    assert count(kernel(body), (16,)).counts.global_store_bytes == 4 * (5 + 13)


def test_work_items_that_return_from_a_loop_do_not_come_to_what_follows(count: Count) -> None:
    body = "for (int i = 0; i < n; i++) if (i == g) { y[g + 100] = 1; return; } y[g] = 1; y[g + 50] = 2;"
    assert count(kernel(body), (64,), n=20).counts.global_store_bytes == 4 * (20 + 44 * 2)


def test_a_case_that_returns_leaves_and_one_that_falls_through_goes_on(count: Count) -> None:
    body = "switch (g & 3) { case 0: y[g] = 1; return; case 1: y[g] = 2; default: y[g + 64] = 3; } y[g + 128] = 4;"
    assert count(kernel(body), (64,)).counts.global_store_bytes == 4 * (16 + 16 + 48 + 48)


def test_a_helper_that_returns_early_gives_one_of_its_values(count: Count) -> None:
    text = (
        "float f(__global const float *p, int i) { if (i < 5) return p[i]; if (i > 50) return p[i + 1] * 2.0f; "
        "return 0.0f; }" + kernel("y[g] = f(x, g);")
    )
    counted = count(text, (64,))
    assert counted.counts.global_load_bytes == 4 * (5 + 13)
    assert counted.counts.flops == 13


def test_loops_with_float_counters_are_run(count: Count) -> None:
    body = "float s = 0; for (float t = 0; t < (float)n; t += 0.5f) s += x[g] * t; y[g] = s;"
    assert count(kernel(body), (1,), n=20).counts.flops == 40 * 3


def test_a_union_written_by_one_member_and_read_by_another_rests_on_what_was_written(count: Count) -> None:
    text = kernel("union { float f; uint u; } c; c.u = x[g]; y[g] = c.f;", "__global uint *x, __global float *y")
    assert count(text, (10,)).counts.global_load_bytes == 40
