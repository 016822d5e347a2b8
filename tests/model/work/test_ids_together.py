"""A local id says something of the global one: the rim of a tile is loaded by those who stand at it."""

from __future__ import annotations

import pytest

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.work.analyse import analyse
from tests.model.conftest import Count

TILE = """__kernel void rim(__global const float *x, __global float *y)
{
    __local float tile[18];
    const int i = get_global_id(0), l = get_local_id(0);
    if (l == 0)
        tile[0] = i > 0 ? x[i - 1] : 0.0f;
    if (l == 15)
        tile[17] = i < 63 ? x[i + 1] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[l];
}"""


def test_of_the_first_in_each_group_all_but_one_have_a_left_neighbour(count: Count) -> None:
    counted = count(TILE, (64,), (16,), buffers={"x": 64, "y": 64})
    assert [a.count for a in counted.accesses("x")] == pytest.approx([3, 3])


def test_the_same_holds_where_there_is_one_group_only(count: Count) -> None:
    counted = count(TILE.replace("63", "15"), (16,), (16,), buffers={"x": 64, "y": 64})
    assert sum(a.count for a in counted.accesses("x")) == pytest.approx(0)


def test_ids_that_do_not_matter_are_not_told_apart() -> None:
    """Nobody leaves early; a thousand pairs of ids would each go through all that follows, one by one."""
    follows = "".join(f"if (i * {k} % 1000 < n) y[i] += x[{k}];" for k in range(3, 9))
    program = read_program(f"""__kernel void k(__global const float *x, __global float *y, const int n) {{
        const int i = get_global_id(0);
        if ((get_local_id(0) ^ get_group_id(0)) < 0) return;
        {follows}
    }}""")
    launch = Launch((1024,), (64,), scalars=(("n", 1000),), buffers=(("x", 1024), ("y", 1024)))
    walk = analyse(program, program.kernels[0]).walk(launch)
    assert {tuple(weight for weight, _, _ in visits) for visits in walk.visited.values()} == {(1024.0,)}
