"""Outputs are compared by what they mean: rounding is told from wrong results, and NaN equals NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.opencl.types import ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.device_worker.output_comparison import Output, difference, ulps_apart
from profiler.turns import Difference

FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
INT = ScalarType("int", ScalarKind.SIGNED, 4)
PAIR = StructType("pair", (("weight", FLOAT), ("count", INT)))


def output(values: Any, element: Type | None = FLOAT, name: str = "y") -> Output:
    return Output(name, np.ascontiguousarray(values).view(np.uint8).reshape(-1), element)


def floats(*values: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(values, np.float32)


def compared(first: Output, other: Output) -> Difference:
    return difference([first], [other])


def test_the_same_values_are_equal_whatever_bits_a_nan_or_a_zero_has() -> None:
    found = compared(output(floats(1, np.nan, 0.0)), output(floats(1, -np.nan, -0.0)))
    assert found == Difference(compared=("y",))
    assert found.equal is True


def test_rounding_is_counted_in_ulps_and_named_with_its_place() -> None:
    one_more = np.nextafter(np.float32(3), np.float32(4))
    found = compared(output(floats(1, 2, 3)), output(floats(1, 2, one_more)))
    assert found.equal is False
    assert found.max_ulps == 1
    assert found.max_relative == pytest.approx(2**-23 / 1.5)
    assert found.example.startswith("`y[2]` is 3.0000002 instead of 3.0")
    assert found.within(ulps=1)
    assert found.within(relative=1e-6)
    assert not found.within()


def test_near_zero_a_difference_is_relative_to_the_usual_size_of_the_numbers() -> None:
    found = compared(output(floats(1e-9, 1, 1)), output(floats(-1e-9, 1, 1)))
    assert found.max_ulps is not None
    assert found.max_ulps > 1000
    assert found.within(relative=1e-6)


@pytest.mark.parametrize(
    ("first", "other", "element"),
    [
        (np.array([1, 2], np.int32), np.array([1, 3], np.int32), INT),
        (floats(1, 2), floats(1, np.nan), FLOAT),
    ],
)
def test_no_tolerance_covers_other_integers_or_a_nan(first: Any, other: Any, element: Type) -> None:
    found = compared(output(first, element), output(other, element))
    assert found.equal is False
    assert found.max_ulps is None
    assert not found.within(ulps=10**9, relative=10.0)


def test_the_fourth_lane_of_a_vector_of_three_is_nobodys_result() -> None:
    triple = VectorType(FLOAT, 3)
    assert compared(output(floats(1, 2, 3, 7), triple), output(floats(1, 2, 3, 8), triple)).equal is True
    assert compared(output(floats(1, 2, 3, 7), triple), output(floats(1, 2, 4, 7), triple)).equal is False


def test_a_member_of_a_struct_is_named() -> None:
    kind = np.dtype([("weight", np.float32), ("count", np.int32)])
    first, other = np.array([(1, 2), (1, 3)], kind), np.array([(1, 2), (1, 4)], kind)
    assert compared(output(first, PAIR), output(other, PAIR)).example == "`y[1].count` is 4 instead of 3"


def test_outputs_of_other_names_or_lengths_are_not_compared() -> None:
    first = [output(floats(1)), output(floats(1, 2), name="z")]
    found = difference(first, [output(floats(1, 2)), output(floats(1), name="new"), output(floats(1, 2), name="z")])
    assert found.compared == ("z",)
    assert found.not_compared == ("y", "new")
    assert found.equal is None
    assert not found.within(ulps=10)
    lacking = difference(first, [output(floats(1))])
    assert lacking.not_compared == ("z",)
    assert lacking.equal is None
    assert difference(first, []).equal is None


@given(st.floats(width=32, allow_nan=False), st.integers(0, 1000))
def test_ulps_count_the_steps_between_two_numbers(number: float, steps: int) -> None:
    start = np.array([number], np.float32)
    reached = start
    for _ in range(steps):
        reached = np.nextafter(reached, np.float32(np.inf))
    far = int(ulps_apart(start, reached)[0])
    assert far == steps or (np.isinf(reached[0]) and far <= steps)
    assert int(ulps_apart(reached, start)[0]) == far
