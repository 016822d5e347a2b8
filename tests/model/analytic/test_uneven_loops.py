"""Loops of uneven length: a vector waits for its last lane, and the branch at the end of a loop is mispredicted."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill, Launch
from model.observing import count_observed
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.features.vectorization_contexts import Context, ContextCount
from tests.model.conftest import Count

ITEMS, ROW = 4096, 64
LEFT = """kernel void k(global const float *v, global int *o) {
    int i = get_global_id(0), j = 0;
    while (j < 64 && v[i * 64 + j] > LIMIT) j++;
    o[i] = j; }"""


def in_the_loop(limit: float) -> ContextCount:
    """Return what is executed in a loop that goes on while uniform random numbers are larger than `limit`."""
    program = read_program(LEFT.replace("LIMIT", f"{limit}f"))
    fills = (("v", Fill("uniform", (0, 1))),)
    launch = Launch((ITEMS,), (64,), buffers=(("v", ITEMS * ROW), ("o", ITEMS)), fills=fills)
    counts = count_observed(program, program.kernels[0], analyse(program, program.kernels[0]), launch)
    (found,) = (part for part in counts.contexts if part.context is Context.DATA)
    return found


def test_vectors_are_busy_until_their_last_lane_leaves() -> None:
    assert in_the_loop(0.3).lane_wait > 2 > in_the_loop(0.0).lane_wait == pytest.approx(1, abs=0.1)


def test_the_ends_of_short_uneven_loops_are_surprises() -> None:
    """After 1.3 iterations on average, and of loops that nearly all leave at once."""
    assert in_the_loop(0.43).surprises > 0.5 * ITEMS > 0.1 * ITEMS > in_the_loop(0.99).surprises


@pytest.mark.parametrize(("value", "steps"), [("exp(s)", 10), ("native_log2(s)", 10), ("s * 0.5f", 1), ("sqrt(s)", 1)])
def test_operations_wait_for_calls_as_long_as_these_take(count: Count, value: str, steps: int) -> None:
    text = f"""kernel void k(global float *o, int n) {{
        float s = o[0]; for (int j = 0; j < n; j++) s = {value}; o[get_global_id(0)] = s; }}"""
    counted = count(text, (64,), (64,), n=100, buffers={"o": 64})
    assert counted.counts.chain_ops == 64 * 100 * steps
