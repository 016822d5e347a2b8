"""What no kernel uses goes, and what it does use stays, with all that this rests on."""

from __future__ import annotations

from profiler.corpus.origins.pruning import pruned

PROGRAM = """\
// everything for everyone
float used(float x);
float unused(float x);
constant float table[2] = { 1.0f, 2.0f };
constant float other[2] = { 3.0f, 4.0f };
#define CALL(x) by_macro(x)
float by_macro(float x) { return x; }
static float deep(float x) { return x * table[0]; }
float used(float x) { if (x > 0) { return deep(x); } return x; }
float unused(float x) { return other[0] * x; }
__kernel void k(__global float *x) { x[0] = used(x[0]); }
"""


def test_only_what_kernels_and_macros_name_is_kept() -> None:
    text = pruned(PROGRAM)
    for kept in ("by_macro(float x) {", "deep(float x) {", "used(float x) {", "table[2]", "__kernel void k"):
        assert kept in text
    for gone in ("other[0]", "other[2]", "everyone"):
        assert gone not in text


def test_a_program_that_uses_all_it_has_stays_as_it_is_but_for_comments() -> None:
    text = "float f(float x) { return x; }\n__kernel void k(__global float *x) { x[0] = f(1); }\n"
    assert pruned(text) == text


def test_a_kernel_is_kept_whatever_stands_between_its_qualifier_and_its_name() -> None:
    text = (
        "#define GROUP() __attribute__((reqd_work_group_size(64, 1, 1)))\n"
        "float gone(float x) { return x; }\n"
        "__kernel\nGROUP()\nvoid by_macro(__global float *x) { x[0] = 1; }\n"
        "__kernel\n#if WIDE >= 64\n\t__attribute__((reqd_work_group_size(64, 1, 1)))\n#endif\n"
        "void by_directive(__global float *x) { x[0] = 2; }\n"
    )
    kept = pruned(text)
    assert "void by_macro(__global float *x) {" in kept
    assert "void by_directive(__global float *x) {" in kept
    assert "gone" not in kept
