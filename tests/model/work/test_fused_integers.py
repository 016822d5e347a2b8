"""Integer operations that a GPU does together: what a person finds in the instructions that compilers make."""

from __future__ import annotations

import pytest

from model.work.counts import OpKind
from tests.model.conftest import Count

HEAD = "kernel void k(global const uint *in, global uint *out, uint n) { uint i = get_global_id(0); "
HEAD += "uint a = in[i], b = in[i + 64], c = in[i + 128], d = in[i + 192]; out[i] = "
LAUNCH = {"n": 1000, "buffers": {"in": 256, "out": 64}}


@pytest.mark.parametrize(
    ("value", "saved"),
    [
        ("a + b", 0),
        ("a + b + c", 1),
        ("(a + b) - (c + d)", 1),  # two instructions of three operands
        ("a ^ b ^ c", 1),
        ("(a & b) | (~a & c)", 3),  # any function of three words
        ("(a & b) ^ (a & c) ^ (b & c)", 4),
        ("(a << 7) | (a >> 25)", 2),
        ("((a << 7) | (a >> 25)) + b + c", 3),
        ("a * b + c", 0),
        ("a << b", 0),
        ("(a == b) + c", 0),
    ],
)
def test_sums_of_three_logic_of_three_and_rotations_are_one_instruction(count: Count, value: str, saved: int) -> None:
    counted = count(f"{HEAD}{value}; }}", (64,), (64,), **LAUNCH)
    assert counted.counts.facts.fused_integers == 64 * saved


def test_no_more_is_saved_than_is_counted(count: Count) -> None:
    counted = count(HEAD + "(a + b) + (a + b) + (a + b); }", (64,), (64,), **LAUNCH)
    assert counted.counts.facts.fused_integers < counted.ops(OpKind.INTEGER)


def test_floats_are_never_taken_for_integers(count: Count) -> None:
    text = "kernel void k(global float *x) { int i = get_global_id(0); x[i] = x[i] + 1.0f + x[i + 64]; }"
    assert count(text, (64,), (64,), buffers={"x": 128}).counts.facts.fused_integers == 0
