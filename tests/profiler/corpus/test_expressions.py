"""Random expressions: the same for the same seed, of every type, and bounded whatever the values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import LIMIT, condition, cost, expression, statements
from profiler.measure import measure
from profiler.measurement import MeasureRequest

SCALARS = ("float", "double", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
TYPES = st.builds(str.__add__, st.sampled_from(SCALARS), st.sampled_from(("", "2", "3", "4", "8", "16")))
SEEDS = st.integers(0, 1 << 30)


@given(SEEDS, TYPES, st.integers(0, 5))
def test_the_same_seed_gives_the_same_expression(seed: int, type_: str, depth: int) -> None:
    first, second = (expression(Draw(seed), ["a", "b"], type_, depth) for _ in range(2))
    assert first == second
    assert first.count("(") == first.count(")")
    assert cost(first) >= 0


@given(SEEDS, st.sampled_from(SCALARS))
def test_a_comparison_is_one_of_two_different_things(seed: int, type_: str) -> None:
    assert any(f" {sign} " in condition(Draw(seed), ["a"], type_) for sign in ("<", ">", "<=", ">="))


@given(SEEDS, TYPES)
def test_a_chain_of_statements_declares_what_it_says(seed: int, type_: str) -> None:
    lines, names = statements(Draw(seed), ["a"], type_, 4)
    assert [line.split()[:2] for line in lines] == [[type_, name] for name in names]


@pytest.mark.parametrize("type_", ["float5", "half", "size_t", "float4x4"])
def test_a_type_that_is_none_of_them_is_refused(type_: str) -> None:
    with pytest.raises(ValueError, match=type_):
        expression(Draw(0), ["a"], type_, 1)


@pytest.mark.device
@pytest.mark.usefixtures("nothing_left_behind")
def test_no_value_leaves_its_bounds(make_request: Callable[..., MeasureRequest]) -> None:
    """Whatever is too large, infinite or no number is written far beyond the buffer, and the guard pages report it."""
    tests = [
        f"!(fabs({expression(Draw('bounds', k), ['a', 'b'], 'float', k % 6)}) <= {LIMIT + 0.01})" for k in range(24)
    ]
    found = "\n".join(f"    bad += {test};" for test in tests)
    source = f"""__kernel void check(__global const float *x, __global const float *y, __global int *out) {{
    int i = get_global_id(0);
    float a = x[i], b = y[i];
    long bad = 0;
{found}
    out[i + bad * 100000000] = 1;
}}
"""
    n = 1024
    fills = tuple((name, Fill("uniform", (-LIMIT, LIMIT))) for name in "xy")
    launch = Launch((n,), (64,), buffers=(("x", n), ("y", n), ("out", n)), fills=fills)
    assert (
        measure(make_request(source, read_program(source).by_name["check"], launch, budget_s=0.05)).checked
        == "guard pages"
    )
