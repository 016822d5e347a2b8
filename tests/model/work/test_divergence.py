"""Where work-items part ways, held against going through every work-item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

Count = Callable[..., Any]
Items = list[tuple[int, int]]


def groups(size: tuple[int, int], local: tuple[int, int]) -> Iterator[Items]:
    for gy, gx in product(range(size[1] // local[1]), range(size[0] // local[0])):
        lanes = product(range(local[1]), range(local[0]))
        yield [(gx * local[0] + lx, gy * local[1] + ly) for ly, lx in lanes]


def parted(size: tuple[int, int], local: tuple[int, int], holds: Callable[[int, int], bool]) -> tuple[float, float]:
    """Shares of warps and of groups that do not agree."""
    warps, mixed_warps, mixed_groups, count = 0, 0, 0, 0
    for group in groups(size, local):
        sides = [holds(x, y) for x, y in group]
        each = [sides[i : i + 32] for i in range(0, len(sides), 32)]
        warps, count = warps + len(each), count + 1
        mixed_warps += sum(any(w) and not all(w) for w in each)
        mixed_groups += any(sides) and not all(sides)
    return mixed_warps / warps, mixed_groups / count


def guarded(condition: str) -> str:
    return f"""__kernel void f(__global float *o, int n, int m) {{ int x = get_global_id(0), y = get_global_id(1);
        if ({condition}) o[y * 65536 + x] = 1; }}"""


@given(st.integers(0, 1100), st.integers(0, 70), st.sampled_from([(64, 1), (16, 4), (32, 2), (8, 8), (128, 2)]))
def test_a_boundary_guard_parts_the_warps_that_it_cuts(count: Count, n: int, m: int, local: tuple[int, int]) -> None:
    (branch,) = count(guarded("x < n && y < m"), (1024, 64), local, n=n, m=m).counts.facts.branches
    warps, all_groups = parted((1024, 64), local, lambda x, y: x < n and y < m)
    assert branch.share == pytest.approx(min(n, 1024) * min(m, 64) / (1024 * 64))
    assert branch.warps_diverging == pytest.approx(warps)
    assert branch.groups_diverging == pytest.approx(all_groups)
    assert branch.is_exact


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("get_local_id(0) == 0", lambda x, _: x % 64 == 0),
        ("get_local_id(0) < 32", lambda x, _: x % 64 < 32),
        ("x % 2 == 0", lambda x, _: x % 2 == 0),
        ("(x & 32) == 0", lambda x, _: x & 32 == 0),
        ("get_group_id(0) > 1", lambda x, _: x // 64 > 1),
        ("n > 5", lambda _x, _y: True),
    ],
)
def test_guards_over_lanes_part_warps_or_not(count: Count, condition: str, holds: Callable[[int, int], bool]) -> None:
    (branch,) = count(guarded(condition), (1024, 4), (64, 1), n=10, m=1).counts.facts.branches
    assert (branch.warps_diverging, branch.groups_diverging) == parted((1024, 4), (64, 1), holds)


def test_a_branch_on_data_parts_nearly_every_warp(count: Count) -> None:
    text = "__kernel void f(__global float *o) { int x = get_global_id(0); if (o[x] > 0) o[x] = 1; }"
    facts = count(text).counts.facts
    assert facts.branches[0].decided_by == "data"
    assert facts.branches[0].warps_diverging > 0.99
    assert facts.divergence > 0.99


def test_a_triangle_is_uneven_between_groups_and_nearly_even_within_warps(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global float *o) { int i = get_global_id(0); float s = 0;
        for (int k = 0; k < i; ++k) s += a[k]; o[i] = s; }"""
    counted = count(text, (4096,), (64,)).counts
    (loop,) = counted.facts.loops
    assert loop.trip_kind == "ids"
    assert loop.group_imbalance == pytest.approx(2, rel=0.05)
    assert loop.warp_efficiency == pytest.approx(0.99, abs=0.01)
    assert counted.as_json()["group_imbalance"] == loop.group_imbalance


def test_loops_say_what_decides_their_length(count: Count) -> None:
    text = """__kernel void f(__global const int *row, __global float *o, int n, __local float *t) {
        int i = get_global_id(0); float s = 0, p = 1;
        for (int k = 0; k < n; ++k) { s += o[k]; p *= o[k + 1]; }
        for (int k = 0; k < n; ++k) { t[i] = s; barrier(CLK_LOCAL_MEM_FENCE); s += t[0]; }
        for (int k = row[i]; k < row[i + 1]; ++k) s += o[k];
        o[i] = s * p; }"""
    loops = sorted(count(text, n=100).counts.facts.loops, key=lambda loop: loop.line)
    assert [loop.trip_kind for loop in loops] == ["uniform", "uniform", "data"]
    assert [loop.has_barrier for loop in loops] == [False, True, False]
    assert [loop.accumulators for loop in loops] == [2, 1, 1]
    assert [loop.trips for loop in loops][:2] == [100, 100]
    assert loops[2].warp_efficiency is None


BARRIERS = """__kernel void f(__global float *o, __local float *t, int n) {{
    int g = get_global_id(0), l = get_local_id(0); t[l] = o[g];
    {before}
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[0]; }}"""


@pytest.mark.parametrize(
    ("before", "n", "line"),
    [
        ("if (l < 32)", 0, 2),
        ("if (g >= n) return;", 1000, 2),
        ("if (g >= n) return;", 1024, None),
        ("if (get_group_id(0) == 0)", 0, None),
        ("if (o[0] > 0)", 0, None),
        ("for (int k = 0; k < l; ++k)", 0, 2),
        ("for (int k = 0; k < n; ++k)", 5, None),
    ],
)
def test_barriers_that_not_all_of_a_group_reach_name_the_condition(
    count: Count, before: str, n: int, line: int | None
) -> None:
    (barrier,) = count(BARRIERS.format(before=before), (2048,), (64,), n=n).counts.facts.barriers
    assert barrier.divergent_line == line


def test_lines_of_branches_and_loops_move_with_their_kernel(count: Count) -> None:
    text = """__kernel void f(__global float *o, int n) { int x = get_global_id(0); float s = 0;
        if (x < n) return;
        for (int k = 0; k < x; ++k) { s += o[k]; barrier(CLK_LOCAL_MEM_FENCE); }
        o[x] = s; }"""
    facts = count(text, n=3).counts.facts
    moved = facts.moved(lambda line: line + 10)
    assert [b.line for b in moved.branches] == [11]
    assert [loop.line for loop in moved.loops] == [12]
    (barrier,) = moved.barriers
    assert (barrier.line, barrier.loop_line, barrier.divergent_line) == (12, 12, 11)
    assert moved.accesses is facts.accesses


def test_a_launch_that_no_device_would_take_is_answered_all_the_same(count: Count) -> None:
    text = """__kernel void f(__global float *o, __local float *t, int n) {
        int x = get_global_id(0), l = get_local_id(0);
        if (x % 3 < n) t[l * 2] = o[x]; barrier(CLK_LOCAL_MEM_FENCE); if (x < n) o[x * 7] = t[0]; }"""
    facts = count(text, (1 << 40,), (1 << 36,), n=1 << 35).counts.facts
    assert len(facts.branches) == 2
    assert facts.transaction_factor is not None
    assert facts.launch.distinct_bytes > 1 << 35
