"""Hostile kernels cost no more than the budget, and nothing of them reaches Python."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.sampling.run import sample_launch
from model.sampling.sample import RawSample, SampleBudget

SMALL = SampleBudget(lane_steps=3_000_000, seconds=5.0)
MOST_MEMORY_BYTES = 600 << 20


def _sampled(body: str, head: str = "", *, length: int = 64, budget: SampleBudget = SMALL) -> RawSample:
    program = read_program(f"{head}\n__kernel void k(__global int* out) {{ int i = get_global_id(0); {body} }}")
    if not program.kernels:
        return RawSample(0, {}, {}, 1.0, complete=False, rests_on=(), notes=(), stopped="no kernel")
    return sample_launch(program, program.kernels[0], Launch((64,), (64,), buffers=(("out", length),)), None, budget)


@settings(max_examples=25)
@given(st.sampled_from(["(", "-", "!", "~", "{", "if (i) ", "[", "(int)", "*", "out[", "&"]), st.integers(1, 3000))
def test_any_depth_of_nesting_is_answered(opening: str, depth: int) -> None:
    closing = {"(": ")", "[": "]", "{": "}", "out[": "]"}.get(opening, "")
    inner = "i;" if opening in ("{", "if (i) ") else "i"
    whole = f"{opening * depth}{inner}{closing * depth}"
    found = _sampled(whole if inner == "i;" else f"out[i] = {whole};")
    assert found.stopped is None or found.stopped


@pytest.mark.parametrize("sign", ["+", "*", "^", "&&", "||", ","])
def test_expressions_of_thousands_of_parts_are_answered(sign: str) -> None:
    found = _sampled(f"out[i] = ({f' {sign} '.join(['i'] * 4000)});")
    assert found.stopped is None or "nested" in found.stopped or "large" in found.stopped


@settings(max_examples=40)
@given(
    st.sampled_from(
        ["__class__", "__import__", "__builtins__", "eval", "exec", "os", "self", "f", "lambda", "import", "np", "None"]
    ),
    st.sampled_from(
        ["out[i] = {0};", "out[i] = {0}(i);", "int {0} = i; out[i] = {0};", "out[i] = out.{0};", "out->{0} = i;"]
    ),
)
def test_names_of_python_mean_nothing(name: str, form: str) -> None:
    found = _sampled(form.format(name))
    if form.startswith("int"):
        assert found.stopped is None
    else:
        assert found.stopped is not None


@settings(max_examples=40)
@given(st.text(max_size=40).filter(lambda text: "\n" not in text and "\\" not in text and '"' not in text))
def test_strings_are_nothing_but_addresses(text: str) -> None:
    found = _sampled(f'printf("{text}%s", "{text}"); out[i] = i;')
    assert found.stopped is None or found.stopped


@settings(max_examples=30)
@given(st.sampled_from(["", "0x", "0", "-"]), st.text("0123456789abcdefxXuUlLeE.+-", min_size=1, max_size=400))
def test_any_number_is_answered(prefix: str, digits: str) -> None:
    found = _sampled(f"out[i] = {prefix}{digits};")
    assert found.stopped is None or found.stopped


@pytest.mark.parametrize(
    "body",
    [
        "int a[1 << 30]; a[i] = i; out[i] = a[0];",
        "int a[1000][1000][1000]; a[i][0][0] = 1;",
        "__local int a[1 << 28]; a[i] = i;",
        "long16 a[4000]; a[i] = (long16)(i); out[i] = a[0].x;",
        "int a[2147483647 * 8]; out[i] = a[i];",
        "struct { struct { int x[10000][10000]; } y[100]; } s; s.y[0].x[0][0] = i;",
        "char a[-5]; out[i] = a[0];",
        "int a[] = {[4000000000] = 1}; out[i] = a[0];",
    ],
)
def test_huge_arrays_cost_no_memory(body: str) -> None:
    tracemalloc.start()
    try:
        found = _sampled(body)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert (
        found.stopped is None or "large" in found.stopped or "length" in found.stopped or "understood" in found.stopped
    )


@pytest.mark.parametrize(
    "body",
    [
        "while (1) { out[i]++; }",
        "for (;;) { }",
        "do { i = i; } while (i == i);",
        "for (int a = 0; a < 1000000; a++) for (int b = 0; b < 1000000; b++) out[i] += b;",
        "while (out[i] >= 0) out[i] = 1;",
        "for (long a = 0; a < 1l << 62; a++) i += a;",
    ],
)
def test_endless_loops_end_with_the_budget(body: str) -> None:
    found = _sampled(body)
    assert not found.complete
    assert found.stopped is None
    assert found.notes


def test_calls_that_double_at_every_level_end_with_the_budget() -> None:
    levels = "\n".join(f"int f{n}(int x) {{ return f{n - 1}(x) + f{n - 1}(x + 1); }}" for n in range(1, 23))
    found = _sampled("out[i] = f22(i);", f"int f0(int x) {{ return x; }}\n{levels}")
    assert not found.complete


def test_helpers_that_call_themselves_are_refused() -> None:
    found = _sampled("out[i] = f(i);", "int g(int x); int f(int x) { return g(x); } int g(int x) { return f(x); }")
    assert found.stopped is not None
    assert "recursion" in found.stopped


@pytest.mark.parametrize(
    "body",
    [
        "out[i + 1000000000] = i;",
        "out[-5] = out[-7];",
        "__global int* p = 0; *p = i; out[i] = *p;",
        "((__global long*)0xFFFFFFFFFFFFFFF0ul)[i] = 1;",
        "__global int* p = (__global int*)(ulong)(i * 0x9E3779B97F4A7C15ul); out[i] = *p;",
        "int a[4]; a[i] = i; out[i] = a[i * 100000];",
    ],
)
def test_wild_addresses_are_noted_and_go_nowhere(body: str) -> None:
    found = _sampled(body)
    assert found.stopped is None
    assert found.complete


def test_a_gigabyte_walked_over_ends_with_the_memory_it_may_have() -> None:
    body = "for (int j = 0; j < 100000; j++) out[(i * 7919u + j * 104729u) & 0xFFFFFFF] = j;"
    tracemalloc.start()
    try:
        found = _sampled(body, length=1 << 28, budget=SampleBudget(10**9, 1.0))
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert not found.complete
