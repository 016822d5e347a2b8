"""Kernels that nobody asked for are blanked before a driver compiles them; the others stay where they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.opencl.options import BuildOptions
from profiler.extract_kernels import with_only

PLAIN = BuildOptions()
TWO = """#define SCALE 2 // ×
int helper(int x) { return x * SCALE; }
__kernel void one(__global int *x) { /* 😀 */ x[0] = helper(1); } __kernel void two(__global int *x) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#ifdef FAST
        x[i] = 1;
#else
        x[i] = helper(i);
#endif
}
"""


def test_a_kernel_that_is_wanted_stays_to_the_letter() -> None:
    left = with_only({"one"}, TWO, None, PLAIN)
    assert "__kernel void one(__global int *x) { /* 😀 */ x[0] = helper(1); }" in left
    assert "int helper" in left
    assert "two" not in left
    assert "#pragma" not in left
    assert [line for line in left.splitlines() if line.strip().startswith("#")] == [
        "#define SCALE 2 // ×", "#ifdef FAST", "#else", "#endif",
    ]  # fmt: skip


def test_lines_and_columns_stay() -> None:
    left = with_only({"two"}, TWO, None, PLAIN)
    assert len(left.splitlines()) == len(TWO.splitlines())
    at = TWO.splitlines()[2].encode().index(b"__kernel void two")
    assert left.splitlines()[2].encode().index(b"__kernel void two") == at


def test_kernels_of_one_macro_stay_together() -> None:
    text = "#define BOTH __kernel void a() { } __kernel void b() { }\nBOTH\n__kernel void c() { }\n"
    left = with_only({"a"}, text, None, PLAIN)
    assert "BOTH\n" in left
    assert "void c" not in left


def test_where_nothing_is_known_nothing_is_blanked() -> None:
    assert with_only({"none"}, TWO, None, PLAIN) == TWO
    assert with_only({"one", "two"}, TWO, None, PLAIN) == TWO


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_around_keeps_its_lines(before: str, after: str) -> None:
    text = f"{before}\n__kernel void a() {{ }}\n__kernel void b() {{ }}\n{after}"
    assert with_only({"a"}, text, None, PLAIN).count("\n") == text.count("\n")
