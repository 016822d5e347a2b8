"""Quick fixes: what they make of a text, byte for byte, and where they keep their hands off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.advice.advice import AdviceCode
from model.advice.fixes.candidates import fix_candidates
from model.advice.fixes.fix import TextEdit, apply_edits
from model.device_catalog import find_builtin
from model.engine import Engine
from tests.model.advice.fixing import CPU, GPU, changed_lines, fixed, fixes

# Swapped dimensions

TURN = """// kernelcast: global=(M, N) local=(64, 4) M=2048 N=1024 a=M*N b=M*N
__kernel void turn(__global const int *a, __global int *b)
{
    const int x = get_global_id(0), y = get_global_id(1); /* x first */
    b[x * get_global_size(1) + y] = a[x * get_global_size(1) + y];
}
"""


def test_dimensions_are_swapped_in_the_kernel_and_in_its_launch() -> None:
    assert changed_lines(TURN, fixed(TURN, AdviceCode.UNCOALESCED_ACCESS)) == [
        (
            "// kernelcast: global=(M, N) local=(64, 4) M=2048 N=1024 a=M*N b=M*N",
            "// kernelcast: global=(N, M) local=(64, 4) M=2048 N=1024 a=M*N b=M*N",
        ),
        (
            "    const int x = get_global_id(0), y = get_global_id(1); /* x first */",
            "    const int x = get_global_id(1), y = get_global_id(0); /* x first */",
        ),
        (
            "    b[x * get_global_size(1) + y] = a[x * get_global_size(1) + y];",
            "    b[x * get_global_size(0) + y] = a[x * get_global_size(0) + y];",
        ),
    ]


def test_swapping_names_the_launch_that_the_host_must_make() -> None:
    (fix,) = fixes(TURN, AdviceCode.UNCOALESCED_ACCESS)
    assert "1024x2048 / 64x4" in fix.promise
    assert fix.is_exact


def test_groups_are_turned_where_the_kernel_asks_for_them() -> None:
    text = TURN.replace("+ y];", "+ y + 0 * get_local_id(1)];")
    after = fixed(text, AdviceCode.UNCOALESCED_ACCESS)
    assert "global=(N, M) local=(4, 64)" in after
    assert "0 * get_local_id(0)" in after


def test_a_square_launch_stays_as_it_is() -> None:
    text = TURN.replace("M=2048", "M=1024").replace("(M, N)", "(N, N)").replace("(64, 4)", "(8, 8)")
    (fix,) = fixes(text, AdviceCode.UNCOALESCED_ACCESS)
    assert not fix.promise
    assert all(edit.text in ("0", "1") for edit in fix.edits)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("get_global_id(1); /", "get_global_id(1); const int d = 1; int z = get_global_id(d); /"),
        ("get_global_id(1); /", "get_global_id(1); size_t z = get_global_linear_id(); /"),
        ("get_global_id(1); /", "get_global_id(1); size_t z = get_work_dim(); /"),
        ("get_global_id(0)", "GID(0)"),
        ("__kernel void", "__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void"),
    ],
)
def test_dimensions_stay_where_the_text_does_not_tell_them(part: str, other: str) -> None:
    text = "#define GID(d) get_global_id(d)\n" + TURN.replace(part, other)
    assert not fixes(text, AdviceCode.UNCOALESCED_ACCESS)


def test_a_function_that_asks_for_ids_keeps_dimensions() -> None:
    text = "int row(void) { return get_global_id(1); }\n" + TURN.replace("y = get_global_id(1)", "y = row()")
    assert not fixes(text, AdviceCode.UNCOALESCED_ACCESS)


def test_all_annotations_of_a_kernel_are_swapped() -> None:
    second = "// kernelcast: name=small global=(64, 128) local=auto a=8192 b=8192 M=64 N=128\n"
    on = find_builtin(CPU)
    assert on is not None
    text = second + TURN
    forecast = Engine().forecast(text, None, on).forecasts[1]
    (fix,) = [f for f in fix_candidates(text, forecast, on) if f.code is AdviceCode.UNCOALESCED_ACCESS]
    after = apply_edits(text, fix.edits)
    assert "name=small global=(128, 64) local=auto" in after
    assert "global=(N, M) local=(4, 64)" in after


# Loads that a loop repeats

ROWS = """// kernelcast: global=1024 local=64 a=1024*1024 x=1024 y=1024 n=1024
__kernel void rows(__global const float *a, __global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k)
        y[i] += a[i * n + k] * x[k];
}
"""


def test_a_sum_in_a_buffer_is_kept_in_a_variable() -> None:
    after = fixed(ROWS, AdviceCode.REPEATED_LOAD)
    assert after == ROWS.replace(
        "    for (int k = 0; k < n; ++k)\n        y[i] += a[i * n + k] * x[k];\n",
        "    float y_value = y[i];\n    for (int k = 0; k < n; ++k)\n"
        "        y_value += a[i * n + k] * x[k];\n    y[i] = y_value;\n",
    )


def test_what_must_not_overlap_is_promised() -> None:
    (fix,) = fixes(ROWS, AdviceCode.REPEATED_LOAD)
    assert "`y` shares no memory with `a` and `x`" in fix.promise
    assert "the loop of line 5 runs at least once" in fix.promise


def test_restrict_and_a_literal_bound_need_no_promise() -> None:
    text = ROWS.replace("*y", "*restrict y").replace("k < n", "k < 1024")
    (fix,) = fixes(text, AdviceCode.REPEATED_LOAD)
    assert not fix.promise


def test_a_repeated_load_is_hoisted_as_a_constant_with_braces_where_it_stands_alone() -> None:
    text = ROWS.replace("y[i] += a[i * n + k] * x[k];", "y[k] = a[i];").replace("    for", "    if (i < n) for")
    assert (
        "    if (i < n) { const float a_value = a[i]; for (int k = 0; k < n; ++k)\n        y[k] = a_value; }\n"
        in fixed(text, AdviceCode.REPEATED_LOAD)
    )


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    text = ROWS.replace("int i =", "float y_value = 1.0f; int i =")
    assert "float y_value2 = y[i];" in fixed(text, AdviceCode.REPEATED_LOAD)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] += y[k];",  # another place of the same buffer
        "y[k] += 1.0f;",  # the place moves
        "if (x[k] > 0.0f) y[i] += 1.0f;",  # nothing is accessed where the condition fails
        "{ if (k > i) break; y[i] += x[k]; }",  # not all iterations come to it
        "{ int j = i; y[j] += x[k]; }",  # the index is declared inside
        "{ y[i] += x[k]; barrier(CLK_GLOBAL_MEM_FENCE); }",  # others may write meanwhile
        "{ y[i] += x[k]; atomic_inc((__global int *)a); }",
        "{ y[i] += x[k]; *y = 1.0f; }",  # a store out of sight
        "{ y[i] += x[k]; i++; }",
    ],
)
def test_loops_that_do_more_are_left_alone(body: str) -> None:
    text = ROWS.replace("y[i] += a[i * n + k] * x[k];", body)
    assert not [f for f in fixes(text, AdviceCode.REPEATED_LOAD) if "`y[" in f.title]


@pytest.mark.parametrize(
    "loop", ["for (int k = i; k < n; ++k)", "for (int k = 0; k < i; ++k)", "for (int k = 0; x[k] > 0.0f; ++k)"]
)
def test_loops_that_some_work_items_may_not_enter_are_left_alone(loop: str) -> None:
    assert not fixes(ROWS.replace("for (int k = 0; k < n; ++k)", loop), AdviceCode.REPEATED_LOAD)


def test_a_macro_that_may_hide_an_access_stops_it() -> None:
    text = "#define ADD(v) (y[k] += (v))\n" + ROWS.replace("y[i] +=", "ADD(1.0f); y[i] +=")
    assert not fixes(text, AdviceCode.REPEATED_LOAD)


def test_volatile_buffers_are_left_alone() -> None:
    assert not fixes(ROWS.replace("__global float *y", "volatile __global float *y"), AdviceCode.REPEATED_LOAD)


# Qualifiers


def test_all_pointers_become_restrict_and_the_promise_names_them() -> None:
    text = ROWS.replace("*x", "* restrict x")
    (fix,) = fixes(text, AdviceCode.POSSIBLE_ALIASING)
    assert "two of `a` and `y`" in fix.promise
    ((_, line),) = changed_lines(text, apply_edits(text, fix.edits))
    assert "float *restrict a, __global const float * restrict x, __global float *restrict y" in line


def test_restrict_is_for_kernels_that_load_after_a_store() -> None:
    text = ROWS.replace("y[i] += a[i * n + k] * x[k];", "s += a[i * n + k] * x[k];").replace(
        "    int i", "    float s = 0.0f;\n    int i"
    )
    after = text[: text.rindex("}")]
    assert not fixes(f"{after}    y[i] = s;\n}}\n", AdviceCode.POSSIBLE_ALIASING)
    assert not fixes(f"{after}    y[i] = s + a[i];\n}}\n", AdviceCode.POSSIBLE_ALIASING)
    assert fixes(f"{after}    y[i] = s;\n    y[i + 1] = a[i];\n}}\n", AdviceCode.POSSIBLE_ALIASING)


def test_what_is_only_read_becomes_const() -> None:
    text = ROWS.replace("__global const float *x", "__global float *x").replace("const float *a", "float *a")
    ((_, line),) = changed_lines(text, fixed(text, AdviceCode.ONLY_READ))
    assert line == "__kernel void rows(__global const float *a, __global const float *x, __global float *y, int n)"


@pytest.mark.parametrize("use", ["__global float *p = x; y[i] = p[k];", "y[i] = *x;", "x[k] = 1.0f;", "x[k]++;"])
def test_what_may_be_written_does_not_become_const(use: str) -> None:
    text = ROWS.replace("__global const float *x", "__global float *x").replace("y[i] +=", f"{use} y[i] +=")
    assert not fixes(text, AdviceCode.ONLY_READ)


# Arithmetic

WAVES = """// kernelcast: global=65536 local=64 x=65536
__kernel void waves(__global float *x)
{
    int i = get_global_id(0);
    x[i] = exp(x[i]) * native_cos(x[i]) + sin(x[i]); // exp(1)
}
"""


def test_functions_become_native_where_the_device_gains() -> None:
    assert changed_lines(WAVES, fixed(WAVES, AdviceCode.PRECISE_FUNCTION, GPU)) == [
        (
            "    x[i] = exp(x[i]) * native_cos(x[i]) + sin(x[i]); // exp(1)",
            "    x[i] = native_exp(x[i]) * native_cos(x[i]) + native_sin(x[i]); // exp(1)",
        )
    ]
    assert not fixes(WAVES, AdviceCode.PRECISE_FUNCTION, CPU)
    assert not fixes(WAVES.replace("float", "double"), AdviceCode.PRECISE_FUNCTION, GPU)


def test_relaxed_math_goes_into_the_annotation() -> None:
    ((_, line),) = changed_lines(WAVES, fixed(WAVES, AdviceCode.RELAXED_MATH))
    assert line == "// kernelcast: global=65536 local=64 x=65536 -cl-fast-relaxed-math"
    assert not fixes(WAVES.replace("x=65536\n", "x=65536 -cl-fast-relaxed-math\n"), AdviceCode.RELAXED_MATH)
    assert not fixes(TURN, AdviceCode.RELAXED_MATH)


def test_a_launch_that_nothing_says_is_written_above_the_kernel() -> None:
    text = "\r\n".join(["  __kernel void f(__global float *x)", "  { x[get_global_id(0)] *= 2.0f; }", ""])
    (fix,) = fixes(text, AdviceCode.RELAXED_MATH)
    assert apply_edits(text, fix.edits).startswith("  // kernelcast: global=")
    assert apply_edits(text, fix.edits).endswith(f"-cl-fast-relaxed-math\r\n{text}")


# Loops, groups, local memory


def test_an_innermost_loop_is_unrolled_on_a_line_of_its_own() -> None:
    after = fixed(ROWS, AdviceCode.ROLLED_LOOP)
    assert "    #pragma unroll 4\n    for (int k = 0; k < n; ++k)\n" in after
    assert after.replace("    #pragma unroll 4\n", "") == ROWS
    assert not fixes(after, AdviceCode.ROLLED_LOOP)


def test_groups_of_other_sizes_are_for_kernels_that_know_nothing_of_groups() -> None:
    after = fixed(ROWS, AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert changed_lines(ROWS, after)[0][1].startswith("// kernelcast: global=1024 local=128 ")
    assert not fixes(ROWS.replace("get_global_id(0)", "get_local_id(0)"), AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert not fixes(ROWS.replace("local=64", "local=auto"), AdviceCode.LOCAL_SIZE_MULTIPLE)


def test_smaller_groups_are_for_launches_with_fewer_groups_than_compute_units() -> None:
    text = ROWS.replace("local=64", "local=512")  # two groups for eight cores
    assert "local=64 " in fixed(text, AdviceCode.TOO_FEW_GROUPS, at=1)
    assert not fixes(ROWS.replace("local=64", "local=128"), AdviceCode.TOO_FEW_GROUPS)


def test_a_narrow_group_becomes_wide() -> None:
    text = TURN.replace("local=(64, 4)", "local=(4, 64)")
    assert "local=(64, 1)" in fixed(text, AdviceCode.LOCAL_SIZE_MULTIPLE, at=1)


def test_the_group_size_of_the_launch_can_be_required() -> None:
    ((_, line),) = changed_lines(TURN, fixed(TURN, AdviceCode.UNKNOWN_GROUP_SIZE))
    assert line.startswith("__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void turn(")


def test_pocl_knows_the_group_size_of_each_launch() -> None:
    on = find_builtin(CPU)
    assert on is not None
    pocl = replace(on, platform="Portable Computing Language")
    (forecast,) = Engine().forecast(TURN, None, pocl).forecasts
    assert AdviceCode.UNKNOWN_GROUP_SIZE not in {fix.code for fix in fix_candidates(TURN, forecast, pocl)}


TILE = """#define SIDE 32
// kernelcast: global=(1024, 1024) local=(32, 32) a=1024*1024 b=1024*1024
__kernel void turn(__global const float *restrict a, __global float *restrict b)
{
    __local float tile[SIDE][SIDE];
    const int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = a[get_global_id(1) * 1024 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(get_group_id(0) * 32 + y) * 1024 + get_group_id(1) * 32 + x] = tile[x][y];
}
"""


def test_rows_of_a_tile_are_padded_against_bank_conflicts() -> None:
    assert changed_lines(TILE, fixed(TILE, AdviceCode.BANK_CONFLICTS, GPU)) == [
        ("    __local float tile[SIDE][SIDE];", "    __local float tile[SIDE][SIDE + 1];")
    ]
    assert not fixes(TILE, AdviceCode.BANK_CONFLICTS, CPU)
    assert not fixes(TILE.replace("tile[x][y];", "(&tile[0][0])[x * SIDE + y];"), AdviceCode.BANK_CONFLICTS, GPU)


# All of them


def test_text_that_is_no_ascii_keeps_every_byte() -> None:
    text = "// größer: 日本 \U0001f600\n" + ROWS.replace("int i =", "/* ü */ int i =") + "// Straße\n"
    for code in (AdviceCode.REPEATED_LOAD, AdviceCode.POSSIBLE_ALIASING, AdviceCode.LOCAL_SIZE_MULTIPLE):
        after = fixed(text, code)
        assert after.startswith("// größer: 日本 \U0001f600\n")
        assert "/* ü */ int i =" in after
        assert after.endswith("// Straße\n")


@pytest.mark.parametrize("inside", ["#if 1\n    i += 0;\n#endif", "i +;"])
def test_kernels_with_directives_or_mistakes_inside_are_left_alone(inside: str) -> None:
    text = ROWS.replace("    for", f"{inside}\n    for")
    on = find_builtin(CPU)
    assert on is not None
    (forecast,) = Engine().forecast(text, None, on).forecasts
    assert fix_candidates(text, forecast, on) == ()


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", [TextEdit(0, 3, "x"), TextEdit(2, 4, "y")])
