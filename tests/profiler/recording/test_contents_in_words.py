"""A buffer that was made from a word is described by a similar word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model.contents.buffer import buffer_contents
from model.launch.fill import parse_fill
from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.recording.contents import describe, fill_word

INT = ScalarType("int", ScalarKind.SIGNED, 4)
UINT = ScalarType("uint", ScalarKind.UNSIGNED, 4)
FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
FLOAT4 = VectorType(FLOAT, 4)
ROW = StructType("row", (("start", INT), ("weight", FLOAT)))


def made(fill: Fill, element: Type, length: int) -> bytes:
    contents = buffer_contents("x", element, length, {"": fill}, length)
    memory = np.zeros(contents.size_bytes, np.uint8)
    contents.write(memory)
    return memory.tobytes()


def described(fill: Fill, element: Type, length: int) -> Fill:
    word = describe(made(fill, element, length), element)[""]
    return parse_fill(word).evaluate({})


@pytest.mark.parametrize("word", ["zeros", "iota", "perm", "const:7", "mask:0.2", "choice:3@0.7,9@0.2,12@0.1"])
@pytest.mark.parametrize("element", [INT, UINT, FLOAT])
def test_plain_words_come_back(word: str, element: Type) -> None:
    fill = parse_fill(word).evaluate({})
    found = described(fill, element, 4096)
    assert found.kind == fill.kind
    assert found.arguments == pytest.approx(fill.arguments, abs=0.03)


@given(low=st.integers(-1000, 1000), width=st.integers(20, 10**6), length=st.integers(200, 5000))
def test_random_integers_come_back_with_their_range(low: int, width: int, length: int) -> None:
    found = described(Fill("randint", (low, low + width)), INT, length)
    assert found.kind == "randint"
    assert found.arguments == pytest.approx((low, low + width), abs=max(3, width * 20 / length))


@given(low=st.floats(-100, 100), width=st.floats(0.5, 1000), length=st.integers(200, 5000))
def test_random_floats_come_back_with_their_range(low: float, width: float, length: int) -> None:
    found = described(Fill("uniform", (low, low + width)), FLOAT, length)
    assert found.kind == "uniform"
    assert found.arguments == pytest.approx((low, low + width), abs=width * 20 / length)


@given(low=st.integers(1, 1000), width=st.integers(200, 10**6), length=st.integers(200, 5000))
def test_what_ascends_is_sorted(low: int, width: int, length: int) -> None:
    for element in (INT, FLOAT):
        found = described(Fill("sorted", (low, low + width)), element, length)
        assert found.kind == "sorted"
        assert found.arguments == pytest.approx((low, low + width), abs=3 + width * 4 / length)


@given(rows=st.integers(100, 5000), mean=st.integers(4, 50), skew=st.sampled_from([None, 0, 1.0, 2.0]))
def test_row_pointers_come_back_with_their_skew(rows: int, mean: int, skew: float | None) -> None:
    nonzeros = rows * mean
    found = described(Fill("csr_rows", (nonzeros,) if skew is None else (nonzeros, skew)), INT, rows + 1)
    assert (found.kind, found.arguments[0]) == ("csr_rows", nonzeros)
    assert found.arguments[1:] == pytest.approx(() if skew is None else (skew,), abs=0.25)


@given(width=st.integers(2000, 10**6), length=st.integers(500, 5000), share=st.integers(20, 60))
def test_neighbours_that_are_alike_are_clustered(width: int, length: int, share: int) -> None:
    run = max(2, width // (3 * share))
    found = described(Fill("clustered", (0, width, run)), INT, length)
    assume(found.kind != "sorted")  # a walk that never turned
    values = np.frombuffer(made(Fill("clustered", (0, width, run)), INT, length), np.int32)
    assume(int(values.max()) - int(values.min()) >= 20 * run)  # else it has not gone far, and any word is as good
    assert found.kind == "clustered"
    assert found.arguments[2] == pytest.approx(run, rel=0.2, abs=1)


@given(width=st.integers(200, 10**6), length=st.integers(1000, 5000))
def test_low_values_that_are_far_more_frequent_are_skewed(width: int, length: int) -> None:
    assert described(Fill("skewed", (0, width)), INT, length).kind == "skewed"


def test_many_zeros_among_other_values_are_told() -> None:
    values = np.arange(1000, dtype=np.float32)[::-1].copy() * 1.37
    values[::2] = 0
    np.random.default_rng(1).shuffle(values)
    found = parse_fill(fill_word(values)).evaluate({})
    zeros = dict(zip(found.arguments[::2], found.arguments[1::2], strict=True))[0]
    assert found.kind == "choice"
    assert zeros == pytest.approx(0.5, abs=0.02)


def test_memory_that_no_one_wrote_is_not_taken_for_data() -> None:
    assert fill_word(np.full(100, 1e-40, np.float32)) == "zeros"
    assert fill_word(np.array([1e-30, 1e30] * 50, np.float32)) == ""


def test_members_of_structs_have_words_of_their_own() -> None:
    rows = np.zeros(500, np.dtype([("start", np.int32), ("weight", np.float32)]))
    rows["start"] = np.arange(500)
    rows["weight"] = 2.5
    assert describe(rows.tobytes(), ROW) == {"start": "iota", "weight": "const:2.5"}


def test_a_vectors_components_are_its_scalars() -> None:
    assert describe(np.full(64, 3, np.float32).tobytes(), FLOAT4) == {"": "const:3"}


@given(data=st.binary(max_size=600), element=st.sampled_from([INT, FLOAT, FLOAT4, ROW]))
def test_whatever_a_buffer_holds_its_words_can_be_read_back(data: bytes, element: Any) -> None:
    for word in describe(data, element).values():
        parse_fill(word).evaluate({})
