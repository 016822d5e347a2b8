"""Two kernels are one of the corpus, whatever their authors called things and asked compilers for."""

from __future__ import annotations

import pytest

from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import read_program

TEXT = """#define TIMES 4
kernel void sum(global float *a, global float *b, int n) {
    float s = 0;
    HINT
    LOOP
    b[get_global_id(0)] = s; }"""
LOOPS = ("for (int k = 0; k < n; k++) s += a[k];", "while (s < n) s += a[0];", "do s += a[1]; while (s < n);")


def identity_of(text: str) -> str:
    return identity(normalised_tokens(read_program(text), "sum"))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    "hint", ["#pragma unroll", "#pragma unroll 8", "  # pragma unroll (16)", "#pragma unroll TIMES"]
)
def test_asking_for_a_loop_to_be_unrolled_makes_no_other_kernel(loop: str, hint: str) -> None:
    text = TEXT.replace("LOOP", loop)
    assert identity_of(text.replace("HINT", hint)) == identity_of(text.replace("HINT", ""))


def test_names_and_digits_make_no_other_kernel_and_operations_do() -> None:
    text = TEXT.replace("HINT", "").replace("LOOP", LOOPS[0])
    assert identity_of(text.replace("float s = 0", "float s = 0; s += 5.0f")) == identity_of(
        text.replace("float s = 0", "float s = 0; s += 4.5f").replace("n)", "count)").replace("< n;", "< count;")
    )
    assert identity_of(text) != identity_of(text.replace("+= a", "-= a"))
