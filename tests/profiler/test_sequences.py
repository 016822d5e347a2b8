"""Contents whose order or frequency means something are what their words say, whatever the type and the length."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType, Type, VectorType
from profiler.arguments import BufferArgument
from profiler.device_worker.memory.layout import write_contents

FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
DOUBLE = ScalarType("double", ScalarKind.FLOAT, 8)
INT = ScalarType("int", ScalarKind.SIGNED, 4)
UCHAR = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
ULONG = ScalarType("ulong", ScalarKind.UNSIGNED, 8)
CODES = {"float": "<f4", "double": "<f8", "int": "<i4", "uchar": "<u1", "ulong": "<u8"}

lengths = st.one_of(st.integers(1, 40), st.integers(1, 80_000))
scalars = st.sampled_from([FLOAT, DOUBLE, INT, ULONG])
lows = st.integers(0, 1000)
widths = st.one_of(st.integers(1, 10), st.integers(1, 1_000_000))


def filled(element: Type, length: int, fill: str, *arguments: float, name: str = "x") -> np.ndarray[Any, Any]:
    base = element.element if isinstance(element, VectorType) else element
    memory = np.full(length * element.size_bytes, 0xA5, np.uint8)
    write_contents(BufferArgument(name, element, length, Fill(fill, arguments)), 16, memory)
    return memory.view(CODES[base.name])


@given(lengths, scalars, lows, widths)
def test_sorted_values_ascend_within_their_range(length: int, element: ScalarType, low: int, width: int) -> None:
    values = filled(element, length, "sorted", low, low + width)
    assert (values[1:] >= values[:-1]).all()
    assert values[0] >= low
    assert values[-1] < low + width


@given(lengths, scalars, lows, widths, st.integers(0, 5000))
def test_clustered_values_lie_near_their_neighbours(
    length: int, element: ScalarType, low: int, width: int, run: int
) -> None:
    values = filled(element, length, "clustered", low, low + width, run).astype(np.float64)
    assert values.min() >= low
    assert values.max() < low + width
    rounding = 0 if element.kind is not ScalarKind.FLOAT else (low + width) * 2**-22
    assert np.abs(np.diff(values)).max(initial=0) <= run + rounding


@given(lengths, scalars, lows, widths)
def test_skewed_values_stay_in_their_range(length: int, element: ScalarType, low: int, width: int) -> None:
    values = filled(element, length, "skewed", low, low + width)
    assert values.min() >= low
    assert values.max() < low + width


@given(lengths, st.integers(0, 10**7), st.one_of(st.none(), st.floats(0, 3)))
def test_row_pointers_ascend_from_nothing_to_all(length: int, nonzeros: int, skew: float | None) -> None:
    pointers = filled(INT, length, "csr_rows", nonzeros, *([] if skew is None else [skew]))
    assert pointers[0] == 0
    assert (np.diff(pointers) >= 0).all()
    assert length == 1 or pointers[-1] == nonzeros


def test_the_more_skew_the_longer_the_longest_row() -> None:
    longest = [np.diff(filled(INT, 10_001, "csr_rows", 1_000_000, skew)).max() for skew in (0, 0.5, 1, 2)]
    assert longest[0] == 100
    assert sorted(longest) == longest
    assert longest[2] > 90_000  # a tenth of everything
    assert longest[3] > 500_000


def test_long_rows_stand_anywhere() -> None:
    pointers = filled(INT, 100_001, "csr_rows", 1_000_000, 0.5)
    assert pointers[50_000] == pytest.approx(500_000, rel=0.1)


def test_clustered_values_wander_through_their_whole_range() -> None:
    values = filled(INT, 100_000, "clustered", 0, 50_000, 16)
    assert values.min() < 1000
    assert values.max() > 42_000


def test_low_values_are_far_more_frequent_among_skewed_ones() -> None:
    values = filled(INT, 100_000, "skewed", 0, 1000)
    assert (values == 0).mean() == pytest.approx(0.1, abs=0.02)  # 1 / ln(1001) times ln(2)
    assert (values < 31).mean() == pytest.approx(0.5, abs=0.02)
    assert values.max() > 900
    floats = filled(FLOAT, 100_000, "skewed", 2, 4)
    assert np.median(floats) < 2.1
    assert floats.max() > 3.9


@pytest.mark.parametrize(
    ("fill", "arguments"),
    [("csr_rows", (10**6, 1.0)), ("sorted", (0, 999)), ("clustered", (0, 999, 3)), ("skewed", (0, 999))],
)
class TestEachWord:
    def test_is_deterministic(self, fill: str, arguments: tuple[float, ...]) -> None:
        first, second = (filled(INT, 50_000, fill, *arguments) for _ in range(2))
        assert (first == second).all()

    def test_goes_on_beyond_what_is_drawn(self, fill: str, arguments: tuple[float, ...]) -> None:
        values = filled(INT, (1 << 20) + 70_001, fill, *arguments)
        assert len(np.unique(values[1 << 20 :])) > 20
        if fill != "skewed":
            assert np.diff(values)[(1 << 20) - 5 : (1 << 20) + 5].max() <= 3 + (1000 if fill == "csr_rows" else 0)
        if fill in ("csr_rows", "sorted"):
            assert (np.diff(values) >= 0).all()

    def test_makes_no_second_copy(self, fill: str, arguments: tuple[float, ...]) -> None:
        memory = np.zeros(2**24, np.uint8)
        tracemalloc.start()
        write_contents(BufferArgument("x", INT, 2**22, Fill(fill, arguments)), 100, memory)
        _, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert memory.any()
        assert most_bytes <= 2 * memory.nbytes

    def test_fills_vectors_and_small_types(self, fill: str, arguments: tuple[float, ...]) -> None:
        assert len(filled(VectorType(FLOAT, 4), 100, fill, *arguments)) == 400
        assert len(filled(UCHAR, 100, fill, *arguments)) == 100

    def test_fills_nothing_too(self, fill: str, arguments: tuple[float, ...]) -> None:
        assert not len(filled(INT, 0, fill, *arguments))


def test_values_that_a_type_cannot_hold_stay_in_order() -> None:
    values = filled(UCHAR, 1000, "sorted", 0, 5000)
    assert (np.diff(values.astype(int)) >= 0).all()
    assert values[-1] == 255
    assert filled(ULONG, 100, "sorted", 2**63, 2**63 + 10).min() == 2**63
