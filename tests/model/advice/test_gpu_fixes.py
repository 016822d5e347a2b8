"""Quick fixes that restructure kernels for GPUs: their text, and what keeps them away."""

from __future__ import annotations

import pytest

from model.advice.advice import AdviceCode
from tests.model.advice.fixing import CPU, GPU, fixed, fixes

# Vector loads and stores

QUADS = """// kernelcast: global=65536 local=64 a=262144 b=262144
__kernel void quads(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    const float s = a[4 * i] + a[4 * i + 3];
    b[4 * i] = s;
    b[4 * i + 1] = a[4 * i + 1];
    b[4 * i + 2] = a[4 * i + 2] * s;
    b[4 * i + 3] = 1;
}
"""
CODE = AdviceCode.SCALAR_ACCESS


def test_neighbours_are_loaded_and_stored_by_vectors() -> None:
    after = fixed(QUADS, CODE, GPU)
    assert "    const float4 a4 = vload4(0, a + 4 * i);\n    const float s = a4.s0 + a4.s3;\n" in after
    assert "    vstore4((float4)(" in after
    assert "a4.s1" in after
    assert "a4.s2 * s" in after
    assert after.endswith("1), 0, b + 4 * i);\n}\n")
    (fix,) = fixes(QUADS, CODE, GPU)
    assert fix.title == "Load `a` by `vload4` and store `b` by `vstore4`"
    assert not fix.promise
    assert fix.is_exact
    assert not fixes(QUADS, CODE, CPU)


def test_vectors_promise_that_what_is_stored_between_overlaps_nothing() -> None:
    (fix,) = fixes(QUADS.replace("restrict ", ""), CODE, GPU)
    assert fix.promise == "`a` shares no memory with `b`"


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("a[4 * i + 3]", "a[4 * i + 5]"),  # a gap
        ("a[4 * i + 3]", "b[4 * i + 3]"),
        ("const float s", "if (i < n) return;\n    const float s"),  # that is fine: see below
        ("    b[4 * i] = s;", "    barrier(CLK_LOCAL_MEM_FENCE);\n    b[4 * i] = s;"),
        ("a[4 * i + 3];", "(i > 5 ? a[4 * i + 3] : 0.0f);"),
        ("    b[4 * i] = s;", "    i++;\n    b[4 * i] = s;"),
        ("float *restrict a", "volatile float *restrict a"),
        ("    const float s", "    a = a + 1;\n    const float s"),
    ],
)
def test_loads_are_left_alone_where_they_are_not_all_done(part: str, other: str) -> None:
    found = fixes(QUADS.replace("const int i", "int i").replace(part, other, 1), CODE, GPU)
    is_loaded = any("vload4" in fix.title for fix in found)
    assert is_loaded == ("return" in other)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("b[4 * i + 1] =", "b[4 * i + 2] ="),
        ("b[4 * i + 1] = a", "b[4 * i + 1] += a"),
        ("= 1;", "= b[4 * i];"),  # stored before by another statement
        ("= 1;", "= b[i];"),  # who knows
        ("    b[4 * i + 3]", "    // the last\n    b[4 * i + 3]"),
        ("= s;", "= s++;"),
        ("    b[4 * i + 1]", "    if (i > n) b[4 * i + 1]"),
    ],
)
def test_stores_are_left_alone_where_order_matters(part: str, other: str) -> None:
    found = fixes(QUADS.replace("const float s", "float s").replace(part, other, 1), CODE, GPU)
    assert not any("vstore4" in fix.title for fix in found)


# Several items for each work-item

EACH = """// kernelcast: global=(N, 2) local=(64, 1) N=1048576 a=2*N
__kernel void each(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    b[i + get_global_id(1) * get_global_size(0)] = a[i];
}
"""


def test_a_work_item_does_several_and_the_launch_has_fewer() -> None:
    after = fixed(EACH, AdviceCode.SMALL_WORK_ITEM, GPU, at=1)
    assert after.startswith("// kernelcast: global=(N//4, 2) local=(64, 1) N=1048576 a=2*N n=1048576 b=2097152\n")
    assert (
        after.split("{", 1)[1]
        == """
    for (uint part = 0; part < 4; ++part) {
        const size_t item = get_global_id(0) + part * get_global_size(0);
        const int i = item;
        if (i >= n)
            continue;
        b[i + get_global_id(1) * (get_global_size(0) * 4)] = a[i];
    }
}
"""
    )
    found = fixes(EACH, AdviceCode.SMALL_WORK_ITEM, GPU)
    assert [fix.items for fix in found] == [2, 4, 8]
    assert found[0].promise == "the host launches it with a global size of 524288x2 and no offset"
    assert not fixes(EACH, AdviceCode.SMALL_WORK_ITEM, CPU)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("return;", "for (int k = 0; k < 3; ++k) return;"),  # the inner loop's
        ("    b[i", "    atomic_inc((__global int *)b);\n    b[i"),
        ("    b[i", "    barrier(CLK_GLOBAL_MEM_FENCE);\n    b[i"),
        ("    b[i", "    n++;\n    b[i"),  # the next one would see it
        ("a[i]", "a[i] + get_local_id(0)"),
        ("a[i]", "b[i + 1]"),  # another's
        ("b[i +", "b[(int)a[i] +"),  # several may store to one place
        ("a[i]", "get_global_offset(0)"),
        ("N=1048576", "N=67392"),  # an odd number of groups
    ],
)
def test_work_items_that_depend_on_others_stay(part: str, other: str) -> None:
    text = EACH.replace("const int n", "int n").replace(part, other, 1)
    assert not fixes(text, AdviceCode.SMALL_WORK_ITEM, GPU)


# Tiles

MM = """// kernelcast: global=(N, N) local=(16, 16) N=1024 n=N a=N*N b=N*N c=N*N
__kernel void mm(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; ++k)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
"""


def test_rows_and_columns_of_a_product_go_through_tiles() -> None:
    after = fixed(MM, AdviceCode.LOCAL_TILE, GPU)
    assert "__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void mm(" in after
    assert after.count("__local float ") == 2
    assert "        a_tile[get_local_id(1)][get_local_id(0)] = a[row * n + (k_tile + (int)get_local_id(0))];\n" in after
    assert "        b_tile[get_local_id(1)][get_local_id(0)] = b[(k_tile + (int)get_local_id(1)) * n + col];\n" in after
    assert "s += a_tile[get_local_id(1)][k - k_tile] * b_tile[k - k_tile][get_local_id(0)];\n" in after
    assert after.count("barrier(CLK_LOCAL_MEM_FENCE);") == 2
    (fix,) = fixes(MM, AdviceCode.LOCAL_TILE, GPU)
    assert fix.promise == "the host launches it with a local size of 16x16 and no other"
    assert fix.is_exact


def test_a_known_depth_needs_no_conditions() -> None:
    assert "if (k_tile" not in fixed(MM.replace("k < n", "k < 512"), AdviceCode.LOCAL_TILE, GPU)


@pytest.mark.parametrize("guard", ["if (row >= n || col >= n) return;", "if (row < n && col < n)"])
def test_a_guard_that_all_pass_is_promised(guard: str) -> None:
    place = "    for" if guard.endswith(")") else "    float s"
    (fix,) = fixes(MM.replace(place, f"    {guard}\n{place}"), AdviceCode.LOCAL_TILE, GPU)
    assert "lets all its work-items pass" in fix.promise


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("    float s", "    if (row >= n - 1) return;\n    float s"),  # some leave, and others wait for them
        ("    float s", "    if (a[row] > 1.0f) return;\n    float s"),
        ("k < n", "k < row"),
        ("int k = 0", "int k = 1"),
        ("++k", "k += 2"),
        ("row * n + k", "row * n + k + col"),  # nothing is shared
        ("s += a", "if (s > 9.0f) break; s += a"),
        ("        s += a", "        c[k] += a"),
        ("row = get_global_id(1);", "row = get_global_id(1) ^ (int)a[0];"),
        ("local=(16, 16)", "local=(32, 8)"),
        ("b[k * n + col]", "(k > 5 ? b[k * n + col] : 0.0f) * (k > 3 ? a[row * n + k] : 1.0f)"),
    ],
)
def test_products_of_another_form_are_left_alone(part: str, other: str) -> None:
    found = fixes(MM.replace(part, other, 1), AdviceCode.LOCAL_TILE, GPU)
    assert not [fix for fix in found if "and" in fix.title.split(" by ")[0]]


# Products

STEP = """// kernelcast: global=65536 local=64 a=65536
__kernel void step(__global float *a, const float f, const int n)
{
    const int i = get_global_id(0);
    float x = a[i];
    const float p = x * (f + 1.0f);
    const float y = x - p;
    a[i] = y;
}
"""


def test_a_product_that_is_added_later_becomes_mad() -> None:
    assert fixed(STEP, AdviceCode.UNFUSED_PRODUCT, GPU) == STEP.replace(
        "    const float p = x * (f + 1.0f);\n    const float y = x - p;\n",
        "    const float y = mad(-x, f + 1.0f, x);\n",
    )
    (fix,) = fixes(STEP, AdviceCode.UNFUSED_PRODUCT, GPU)
    assert not fix.is_exact
    assert not fixes(STEP, AdviceCode.UNFUSED_PRODUCT, CPU)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("a[i] = y", "a[i] = y + p"),  # another use
        ("x * (f", "n * (f"),  # an int
        ("x - p", "n - p"),
        ("1.0f", "1.0"),  # a double
        ("    const float y", "    x = 2.0f;\n    const float y"),
        ("const float p", "const int p"),
        ("a=65536", "a=65536 -cl-mad-enable"),
        ("__kernel", "#pragma OPENCL FP_CONTRACT OFF\n__kernel"),
        ("const float y = x - p", "float y = 1.0f; if (x > 0.0f) y = x - p"),
    ],
)
def test_products_of_other_types_or_uses_stay(part: str, other: str) -> None:
    assert not fixes(STEP.replace(part, other, 1), AdviceCode.UNFUSED_PRODUCT, GPU)


@pytest.mark.parametrize("tab", ["  ", "\t", "        "])
def test_what_is_added_is_indented_as_the_kernel_is(tab: str) -> None:
    lines = ("int i = get_global_id(0);", "if (i >= n) return;", "float s = a[i];", "b[i] = s;")
    text = "// kernelcast: global=65536 local=64 n=65536\n"
    text += "__kernel void few(__global const float *a, __global float *b, int n) {\n"
    text += "".join(f"{tab}{line}\n" for line in lines) + "}\n"
    after = fixed(text, AdviceCode.SMALL_WORK_ITEM, GPU)
    added = after.splitlines()[2:-1]
    assert [line[: len(line) - len(line.lstrip())] for line in added] == [tab, *[2 * tab] * 5, tab]
