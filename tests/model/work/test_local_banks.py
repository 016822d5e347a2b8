"""Bank conflicts of local memory, by hand-computed layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.work.memory.transactions import conflict_degree

Count = Callable[..., Any]


@pytest.mark.parametrize(
    ("stride_words", "degree"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1)]
)
def test_lanes_some_words_apart_meet_in_as_many_banks_as_the_stride_shares_with_32(
    stride_words: int, degree: int
) -> None:
    assert conflict_degree([4 * stride_words * lane for lane in range(32)], 4) == degree


@given(st.lists(st.integers(0, 200), min_size=1, max_size=32))
def test_a_warp_passes_as_often_as_the_fullest_bank_has_different_words(words: list[int]) -> None:
    banks = Counter(word % 32 for word in set(words))
    assert conflict_degree([4 * word for word in words], 4) == max(banks.values())


@pytest.mark.parametrize("element_bytes", [1, 2, 4, 8, 16])
def test_neighbours_never_conflict_whatever_their_width(element_bytes: int) -> None:
    assert conflict_degree([element_bytes * lane for lane in range(32)], element_bytes) == 1


def test_doubles_two_apart_conflict_twofold_in_each_half_of_the_warp() -> None:
    assert conflict_degree([16 * lane for lane in range(32)], 8) == 2


def transposed(columns: int) -> str:
    return f"""__kernel void f(__global float *x) {{ __local float t[32][{columns}];
        int a = get_local_id(0), b = get_local_id(1);
        t[b][a] = x[get_global_id(1) * 1024 + get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0) * 1024 + get_global_id(1)] = t[a][b]; }}"""


@pytest.mark.parametrize(("columns", "degree"), [(32, 32), (33, 1), (34, 2), (48, 16)])
def test_a_column_of_a_tile_conflicts_unless_it_is_padded(count: Count, columns: int, degree: int) -> None:
    facts = count(transposed(columns), (1024, 1024), (32, 32)).counts.facts
    written, read = [a.bank_conflict_degree for a in facts.accesses if a.count.buffer == "t"]
    assert (written, read) == (1, degree)
    assert facts.bank_conflict_degree == (1 + degree) / 2


def test_the_layout_of_the_group_decides_which_lanes_are_neighbours(count: Count) -> None:
    text = """__kernel void f(__global float *x, __local float *t) {
        t[get_local_id(0) * 32 + get_local_id(1)] = x[0]; x[get_global_id(0)] = 1; }"""
    for local, degree in (((32, 1), 32), ((1, 32), 1), ((8, 8), 8)):
        facts = count(text, (64, 64), local).counts.facts
        assert facts.bank_conflict_degree == degree, local


def test_lanes_that_a_guard_keeps_out_do_not_conflict(count: Count) -> None:
    text = """__kernel void f(__global float *x, __local float *t) { int l = get_local_id(0);
        if (l % 16 == 0) t[l * 16] = 1; x[get_global_id(0)] = t[0]; }"""
    written = next(
        a for a in count(text, (64,), (64,)).counts.facts.accesses if a.count.is_store and a.count.buffer == "t"
    )
    assert written.bank_conflict_degree == 2  # lanes 0 and 16 of the warp


def test_nothing_is_said_of_kernels_without_local_memory(count: Count) -> None:
    counts = count("__kernel void f(__global float *x) { x[get_global_id(0)] = 1; }").counts
    assert counts.facts.bank_conflict_degree is None
    assert counts.as_json()["bank_conflict_degree"] is None
