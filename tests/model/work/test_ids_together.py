"""A local id says something of the global one: the rim of a tile is loaded by those who stand at it."""

from __future__ import annotations

import pytest

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
