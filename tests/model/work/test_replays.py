"""Helpers that are called over and over: read as often as a kernel may cost, and counted every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.errors import AnalysisError
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.execution import inlining
from model.work.regions.enclosing_scopes import accesses_in

Count = Callable[..., Any]


@pytest.fixture
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is true past the budget is true past any: reading up to the real one takes a second."""
    monkeypatch.setattr(inlining, "FREE_STEPS", 3_000)


POLISH = """float polish(float x, float y) {
    float s = x;
    for (int i = 0; i < 16; ++i) s = s * y + x;
    return s;
}
"""
FLOPS_OF_POLISH = 2 * 16


def kernel(lines: list[str], before: str = POLISH) -> str:
    body = "\n".join(lines)
    return f"""{before}
kernel void k(global float *out, global const float *in, int n) {{
    int g = get_global_id(0);
    float x = in[g];
{body}
    out[g] = x;
}}"""


def said(text: str) -> list[str]:
    program = read_program(text)
    return [assumption.text for assumption in analyse(program, program.kernel("k")).assumptions]


@pytest.mark.parametrize("calls", [20, 3_000])
def test_every_call_in_a_straight_line_is_counted(count: Count, calls: int) -> None:
    counted = count(kernel([f"x = polish(x, {i}.5f);" for i in range(calls)]), (64,))
    assert counted.counts.flops == pytest.approx(64 * calls * FLOPS_OF_POLISH, rel=0.01)
    assert counted.counts.global_store_bytes == pytest.approx(64 * 4)


@pytest.mark.usefixtures("small_budget")
def test_calls_in_a_loop_are_counted_in_every_iteration(count: Count) -> None:
    lines = ["for (int j = 0; j < n; ++j) {", *(f"x = polish(x, {i}.5f);" for i in range(300)), "}"]
    counted = count(kernel(lines), (64,), n=7)
    assert counted.counts.flops == pytest.approx(64 * 7 * 300 * FLOPS_OF_POLISH, rel=0.01)


@pytest.mark.usefixtures("small_budget")
def test_loads_and_stores_of_every_call_are_counted(count: Count) -> None:
    shift = "void shift(global float *p, float y) { for (int i = 0; i < 30; ++i) p[i] = p[i + 64] * y; }"
    counted = count(kernel([f"shift(out + g + {i}, in[g + {i}]);" for i in range(300)], shift), (64,))
    assert counted.counts.global_store_bytes == pytest.approx(64 * 4 * 30 * 300, rel=0.01)


@pytest.mark.usefixtures("small_budget")
def test_helpers_of_helpers_are_counted_as_often(count: Count) -> None:
    twice = f"{POLISH} float twice(float x, float y) {{ return polish(polish(x, y), y + 1.0f); }}"
    counted = count(kernel([f"x = twice(x, {i}.5f);" for i in range(300)], twice), (64,))
    assert counted.counts.flops == pytest.approx(64 * 300 * 2 * FLOPS_OF_POLISH, rel=0.01)


def test_the_assumption_names_the_helper_once() -> None:
    many = said(kernel([f"x = polish(x, {i}.5f);" for i in range(1_500)]))
    assert many == ["`polish` is called so often that one of its calls stands for the later ones"]
    assert said(kernel([f"x = polish(x, {i}.5f);" for i in range(20)])) == []


@pytest.mark.usefixtures("small_budget")
def test_what_a_call_writes_through_a_pointer_is_needed_where_it_is_read(count: Count) -> None:
    step = "void step(float *s, float y) { for (int i = 0; i < 16; ++i) *s = *s * y + 1.0f; }"
    lines = ["float s = x;", *(f"step(&s, x + {i}.0f);" for i in range(300)), "x = s;"]
    counted = count(kernel(lines, step), (64,))
    assert counted.counts.flops == pytest.approx(64 * 300 * (2 * 16 + 1), rel=0.05)


@pytest.mark.usefixtures("small_budget")
def test_pointers_in_a_struct_still_lead_where_they_did(count: Count) -> None:
    step = """typedef struct { global const float *table; float sum; } state_t;
    void step(state_t *s, int at) { for (int i = 0; i < 16; ++i) s->sum += s->table[at + i]; }"""
    lines = ["state_t s; s.table = in; s.sum = x;", *(f"step(&s, n + {17 * i});" for i in range(300)), "x = s.sum;"]
    text = kernel(lines, step)
    program = read_program(text)
    assert analyse(program, program.kernel("k")).unknowns == ()
    assert count(text, (64,), n=3).counts.global_load_bytes == pytest.approx(64 * 4 * 16 * 300, rel=0.01)


@pytest.mark.usefixtures("small_budget")
def test_calls_whose_results_nobody_uses_cost_nothing(count: Count) -> None:
    lines = ["float unused = x;", *(f"unused = polish(unused, {i}.5f);" for i in range(300))]
    assert count(kernel(lines), (64,)).counts.flops == 0


@pytest.mark.usefixtures("small_budget")
def test_reading_is_bounded_by_the_source_not_by_its_calls() -> None:
    """A kernel three times as long is not three times the work once its calls are repeated."""
    accesses = []
    for calls in (300, 900):
        text = kernel([f"x = polish(x, in[{i}]);" for i in range(calls)])
        program = read_program(text)
        accesses.append(len(list(accesses_in(analyse(program, program.kernel("k")).root))))
    assert accesses[1] - accesses[0] == 600  # its own, one a line


@pytest.mark.usefixtures("small_budget")
def test_helpers_that_call_each_other_twice_come_to_an_end() -> None:
    helpers = ["float f0(float x) { return x * x + 1.0f; }"]
    helpers += [f"float f{i}(float x) {{ return f{i - 1}(x) + f{i - 1}(x + {i}.0f); }}" for i in range(1, 31)]
    program = read_program(kernel(["x = f30(x);"], "\n".join(helpers)))
    with pytest.raises(AnalysisError, match="too large"):
        analyse(program, program.kernel("k"))


def test_loops_around_helpers_that_loop_come_to_an_end() -> None:
    """Each is tried before it is counted, and so are those in what it calls: the ways to the innermost one multiply."""
    helpers = ["int f0(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }"]
    helpers += [
        f"int f{i}(int n) {{ int s = 0; for (int i = 0; i < f{i - 1}(n); ++i) s += f{i - 1}(i); return s; }}"
        for i in range(1, 16)
    ]
    program = read_program(kernel(["x = f15((int)x);"], "\n".join(helpers)))
    with pytest.raises(AnalysisError, match="too large"):
        analyse(program, program.kernel("k"))
