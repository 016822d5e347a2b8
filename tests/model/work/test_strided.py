"""Unions of strided sets, held against listing every number."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.work.memory.strided import Strided, blocks, rows_on_blocks, strided, union_size

Parts = tuple[int, list[tuple[int, int]], int]

STRIDES = st.sampled_from([1, 2, 3, 4, 8, 12, 16, 20, 24, 36, 64, 100, 128, 256]) | st.integers(-40, 40)
PARTS = st.tuples(
    st.integers(-300, 300),
    st.lists(st.tuples(STRIDES, st.integers(1, 7)), max_size=3),
    st.sampled_from([1, 2, 4, 8, 12, 16]),
)


def listed(parts: list[Parts]) -> set[int]:
    numbers: set[int] = set()
    for start, strides, width in parts:
        for place in product(*(range(count) for _, count in strides)):
            at = start + sum(stride * i for (stride, _), i in zip(strides, place, strict=True))
            numbers.update(range(at, at + width))
    return numbers


def sets(parts: list[Parts]) -> list[Strided]:
    return [strided(*part) for part in parts]


@given(st.lists(PARTS, min_size=1, max_size=5))
def test_a_union_has_as_many_numbers_as_listing_them_finds(parts: list[Parts]) -> None:
    size, found = union_size(sets(parts)), len(listed(parts))
    assert size.count == found if size.is_exact else size.count >= found


@given(st.lists(PARTS, min_size=1, max_size=4), st.sampled_from([32, 64, 128]))
def test_a_union_touches_as_many_cache_lines_as_listing_them_finds(parts: list[Parts], line: int) -> None:
    size = union_size(blocks(sets(parts), line))
    found = len({number // line for number in listed(parts)})
    assert size.count == found if size.is_exact else size.count >= found


@given(st.integers(2, 9), st.integers(2, 9), st.integers(-2, 2), st.integers(-2, 2))
def test_two_windows_of_one_matrix_share_what_they_overlap_in(rows: int, columns: int, down: int, right: int) -> None:
    width = 1000
    window = [(4, columns), (4 * width, rows)]
    both = [strided(0, window, 4), strided(4 * (down * width + right), window, 4)]
    shared = max(0, rows - abs(down)) * max(0, columns - abs(right))
    assert union_size(both).count == 4 * (2 * rows * columns - shared)


def test_a_stencil_over_a_large_matrix_is_counted_without_listing_it() -> None:
    n = 1 << 20
    loads = [strided(4 * (i * n + j), [(4, n - 2), (4 * n, n - 2)], 4) for i in (0, 1, 2) for j in (0, 1, 2)]
    size = union_size(loads)
    assert (size.count, size.is_exact) == (4 * n * n, True)


@pytest.mark.parametrize(("stride", "lines"), [(4, 16), (64, 256), (100, 256), (4096, 256)])
def test_steps_longer_than_a_cache_line_take_a_line_each(stride: int, lines: int) -> None:
    assert union_size(blocks([strided(0, [(stride, 256)], 4)], 64)).count == lines


def test_every_fourth_element_leaves_three_out() -> None:
    assert union_size([strided(0, [(16, 1 << 20)], 4)]).count == 4 << 20
    assert union_size([strided(0, [(16, 1 << 20)], 4), strided(4, [(16, 1 << 20)], 4)]).count == 8 << 20


def test_nothing_is_empty() -> None:
    assert union_size([]).count == 0


def test_rows_of_any_length_are_counted_in_blocks_as_if_each_began_on_one() -> None:
    def row_blocks(pitch: int, *starts: int) -> int:
        sets = [strided(start, [(pitch, 16)], 64) for start in starts]
        return union_size(blocks(rows_on_blocks(sets, 64), 64)).count

    assert row_blocks(4096, 0) == row_blocks(4028, 0) == row_blocks(4097, 0) == 16
    # The rows above and below, and the neighbours to both sides: 18 rows, each a block more at either end.
    assert row_blocks(4096, -4096, 0, 4096, -4, 4) == row_blocks(4028, -4028, 0, 4028, -4, 4) == 50
