"""The estimate of registers: what it must order rightly, and hand-worked kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.work.execution.registers import PER_BUFFER, RESERVED

Count = Callable[..., Any]


def accumulating(count: int, kind: str = "float") -> str:
    declared = "".join(f"{kind} s{i} = 0;" for i in range(count))
    summed = "".join(f"s{i} += a[k * {count} + {i}];" for i in range(count))
    total = " + ".join(f"s{i}" for i in range(count))
    return f"""__kernel void f(__global const {kind} *a, __global {kind} *o, int n) {{
        int g = get_global_id(0); {declared} for (int k = 0; k < n; ++k) {{ {summed} }} o[g] = {total}; }}"""


def registers(count: Count, text: str) -> int:
    return int(count(text, n=100).counts.facts.registers)


@given(st.integers(1, 12))
def test_each_accumulator_takes_a_register_more(count: Count, accumulators: int) -> None:
    assert registers(count, accumulating(accumulators + 1)) == registers(count, accumulating(accumulators)) + 1


@pytest.mark.parametrize(("kind", "each"), [("float", 1), ("double", 2), ("float4", 4), ("double2", 4)])
def test_wider_accumulators_take_as_many_registers_as_words(count: Count, kind: str, each: int) -> None:
    base = RESERVED + 2 * PER_BUFFER + 2  # the global id and the counter
    assert registers(count, accumulating(3, kind)) == base + 3 * each


def test_what_is_used_up_makes_room(count: Count) -> None:
    both = """__kernel void f(__global float *o, int n) { int g = get_global_id(0);
        { float4 a = 0; for (int k = 0; k < n; ++k) a += o[k]; o[g] = a.x; }
        { float4 b = 0; for (int k = 0; k < n; ++k) b += o[k]; o[g] = b.y; } }"""
    one = both.replace("{ float4 b = 0; for (int k = 0; k < n; ++k) b += o[k]; o[g] = b.y; }", "")
    assert registers(count, both) == registers(count, one)


def test_an_array_lives_in_registers_only_while_its_indices_are_constants(count: Count) -> None:
    text = """__kernel void f(__global float *o, int n) { int g = get_global_id(0); float t[32];
        for (int i = 0; i < 32; ++i) t[i] = o[g + i]; float s = 0;
        for (int i = 0; i < {end}; ++i) s += t[i]; o[g] = s; }"""
    fixed, moving = (registers(count, text.replace("{end}", end)) for end in ("32", "n"))
    assert fixed >= moving + 30


def test_values_over_barriers_are_told_apart(count: Count) -> None:
    text = """__kernel void f(__global float *o, __local float *t, int n) {
        int g = get_global_id(0); float4 kept = o[g];
        float used = o[g + 1]; t[g] = used; barrier(CLK_LOCAL_MEM_FENCE); o[g] = t[0] + kept.x; }"""
    facts = count(text, n=1).counts.facts
    assert facts.live_across_barriers == 5  # `g` and the four of `kept`
    assert count(accumulating(1), n=1).counts.facts.live_across_barriers is None
