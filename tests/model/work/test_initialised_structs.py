"""What an initialiser gives to a struct is known wherever it is read."""

from __future__ import annotations

import pytest

from tests.model.conftest import Count

TYPES = """
typedef struct { int iterations; float scale; int steps[3]; } config;
typedef struct { int a; struct { int b; int c; } in; int d; } nested;
typedef union { int i; float f; } either;
"""


def trips(count: Count, declarations: str, bound: str, before: str = "") -> float | None:
    """How often each item goes through a loop to `bound`; None where that is not known."""
    text = f"""{TYPES}{declarations}
    __kernel void k(__global const float *x, __global float *y, int arg) {{
        const int i = get_global_id(0);
        float s = 0.0f;
        {before}
        for (int j = 0; j < {bound}; j++) s += x[i + j * 64];
        y[i] = s;
    }}"""
    counted = count(text, (64,), (64,), buffers={"x": 9999, "y": 64}, arg=7)
    if counted.counts.undecided_loops:
        return None
    return sum(a.count for a in counted.accesses("x")) / 64


MEMBERS = [
    ("config c = { 64, 0.5f, { 1, 2, 3 } };", "c.iterations", 64),
    ("config c = { .scale = 2.0f, .iterations = 32 };", "c.iterations", 32),
    ("config c = { .scale = 2.0f };", "c.iterations + 4", 4),  # the rest is 0
    ("nested c = { 5, { 6, 7 }, 8 };", "c.a + c.in.b + c.in.c + c.d", 26),
    ("nested c = { .d = 3, .in = { .c = 4 } };", "c.d * 10 + c.in.c", 34),
]
ELEMENTS = [
    ("config c = { 64, 0.5f, { 1, 2, 3 } };", "c.steps[2]", 3),
    ("config c = { .steps = { [1] = 9, 5 } };", "c.steps[1] + c.steps[2]", 14),
    ("config c[2] = { { 16, 1.0f, { 1, 2, 3 } }, { .iterations = 8 } };", "c[1].iterations", 8),
    ("config c[2] = { [1] = { 5 }, [0] = { 6 } };", "c[1].iterations * 10 + c[0].iterations", 56),
]


@pytest.mark.parametrize(("declaration", "bound", "wanted"), MEMBERS + ELEMENTS)
def test_members_of_a_constant_are_what_the_initialiser_says(
    count: Count, declaration: str, bound: str, wanted: float
) -> None:
    assert trips(count, f"__constant {declaration}", bound) == wanted


@pytest.mark.parametrize(("declaration", "bound", "wanted"), MEMBERS)
def test_members_of_a_variable_are_too(count: Count, declaration: str, bound: str, wanted: float) -> None:
    assert trips(count, "", bound, declaration) == wanted


def test_a_copy_holds_the_same(count: Count) -> None:
    assert trips(count, "__constant config c = { 21 };", "own.iterations", "config own = c;") == 21
    assert trips(count, "__constant config c = { 21 };", "p->iterations", "__constant config *p = &c;") == 21


def test_what_a_run_time_value_initialises_is_that_value(count: Count) -> None:
    assert trips(count, "", "c.in.c", "nested c = { 1, { 2, arg * 3 }, 4 };") == 21


@pytest.mark.parametrize(
    ("declaration", "bound"),
    [
        ("nested c = { 5, 6, 7, 8 };", "c.d"),  # braces left away
        ("either c = { .f = 1.0f };", "c.i"),
        ("config c = { .steps = { [0 ... 2] = 9 } };", "c.steps[1]"),
        ("config c;", "c.iterations"),
    ],
)
def test_what_is_not_understood_is_not_made_up(count: Count, declaration: str, bound: str) -> None:
    assert trips(count, f"__constant {declaration}", bound) is None
