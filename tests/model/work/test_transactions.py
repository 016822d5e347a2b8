"""Sectors and lines that a warp fetches, and affine indices with their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Fill
from model.work.memory.affine import Obstacle

Count = Callable[..., Any]
TEXT = """__kernel void f(__global const {type} *a, __global {type} *o, __global const int *col, int n) {{
    int x = get_global_id(0), y = get_global_id(1); o[y * 4096 + x] = a[{index}]; }}"""


def loaded(count: Count, index: str, kind: str = "float", local: tuple[int, int] = (64, 1)) -> Any:
    facts = count(TEXT.format(type=kind, index=index), (1024, 64), local, n=1000, fills={"col": Fill("perm")})
    return next(a for a in facts.counts.facts.accesses if a.count.buffer == "a")


@pytest.mark.parametrize(
    ("index", "sectors", "factor"),
    [("x", 4, 1), ("x + 1", 5, 1.25), ("2 * x", 8, 2), ("x * n", 32, 8), ("y", 1, 1), ("n - x", 5, 1.25)],
)
def test_a_warp_fetches_the_sectors_that_its_lanes_fall_into(
    count: Count, index: str, sectors: float, factor: float
) -> None:
    found = loaded(count, index).transactions
    assert (found.sectors, found.factor) == (sectors, factor)


def test_wide_elements_side_by_side_are_coalesced_and_bytes_are_too(count: Count) -> None:
    assert loaded(count, "x", "float4").transactions.factor == 1
    assert loaded(count, "x", "uchar").transactions.sectors == 1


def test_a_group_that_is_short_in_dimension_0_puts_rows_into_one_warp(count: Count) -> None:
    assert loaded(count, "y * 4096 + x", local=(8, 8)).transactions.sectors == 4
    assert loaded(count, "y * 4096 + x", local=(4, 16)).transactions.factor == 2
    assert loaded(count, "y * 4096 + x", local=(1, 64)).transactions.factor == 8


def test_a_gather_fetches_a_sector_for_each_lane_and_names_its_buffer(count: Count) -> None:
    found = loaded(count, "col[x]")
    assert (found.transactions.sectors, found.index.obstacle, found.index.through) == (32, Obstacle.DATA, "col")


@pytest.mark.parametrize(
    ("index", "obstacle"),
    [
        ("x % n", Obstacle.MODULO),
        ("x / n", Obstacle.DIVISION),
        ("x * y", Obstacle.PRODUCT),
        ("x ^ n", Obstacle.BITS),
        ("min(x, n)", Obstacle.CHOICE),
    ],
)
def test_an_index_that_is_no_sum_says_why(count: Count, index: str, obstacle: Obstacle) -> None:
    assert loaded(count, index).index.obstacle is obstacle


def test_an_index_is_told_in_elements_with_scalars_as_factors(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global float *o, int n, int m) {
        int x = get_global_id(0); float s = 0;
        for (int i = 0; i < n; ++i)
            for (int k = 2; k < m; k += 3) s += a[(i * m + k) * 4 + x + 7];
        o[x] = s; }"""
    found = next(a for a in count(text, n=10, m=100).counts.facts.accesses if a.count.buffer == "a")
    words = found.index_in_words()
    assert "get_global_id(0)" in words
    assert "iteration(3)*4*m" in words
    assert "iteration(4)*12" in words
    assert words.endswith("+ 15")
    assert [step.bytes for step in found.steps] == [48, 1600]
    assert [round(step.trips) for step in found.steps] == [33, 10]


def test_steps_by_large_powers_of_two_fall_into_few_sets_of_a_cache(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global float *o, int n) {
        int x = get_global_id(0); float s = 0;
        for (int k = 0; k < 64; ++k) for (int i = 0; i < n; ++i) s += a[i * n + x]; o[x] = s; }"""
    for n, conflicts in ((1000, 1), (1024, 64), (512, 32), (1040, 1)):
        found = next(a for a in count(text, n=n).counts.facts.accesses if a.count.buffer == "a")
        assert next(s for s in found.steps if s.bytes).set_conflicts == conflicts, n


@pytest.mark.parametrize(
    ("kind", "width", "each"), [("float", 1, 4), ("float4", 4, 16), ("double2", 2, 16), ("char16", 16, 16)]
)
def test_the_width_of_a_vector_is_kept_beside_its_bytes(count: Count, kind: str, width: int, each: int) -> None:
    found = loaded(count, "x", kind).count
    assert (found.width, found.element_bytes) == (width, each)
