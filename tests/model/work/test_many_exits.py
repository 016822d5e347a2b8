"""Work-items that leave by one of many ways, which data choose, take no more visits than a few for each way."""

from __future__ import annotations

import pytest

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.work.analyse import analyse


@pytest.mark.parametrize("ways", [6, 8])
def test_pairs_of_kinds_with_a_return_each_are_walked_in_few_visits(ways: int) -> None:
    exits = "".join(f"if (a == {way} && b == {way + 1}) {{ out[i] = x * {way}.5f; return; }}\n" for way in range(ways))
    text = (
        "kernel void k(global const int4 *p, global const int *s, global float *out, int n) {"
        "int i = get_global_id(0); float x = out[i];\nif (i < n) { int a = s[p[i].x]; int b = s[p[i].y];\n"
        f"{exits} out[i] = 1.0f; }}\n out[n] = x / 3.0f; }}"
    )
    program = read_program(text)
    buffers = (("p", 4096), ("s", 4096), ("out", 8192))
    walk = analyse(program, program.kernels[0]).walk(Launch((4096,), (64,), scalars=(("n", 4000),), buffers=buffers))
    assert walk.visits < 20_000
