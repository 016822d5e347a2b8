"""Contents that are copied are byte for byte those that a measurement of the same launch would see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.contents.buffer import piece_of
from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.arguments import BufferArgument
from profiler.device_worker.corpus.kept_contents import KeptContents
from profiler.device_worker.memory.layout import write_contents

FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
INT = ScalarType("int", ScalarKind.SIGNED, 4)
UCHAR = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
DOUBLE = ScalarType("double", ScalarKind.FLOAT, 8)
PAIR = StructType("pair", (("a", FLOAT), ("b", INT)))
ELEMENTS: list[Type] = [FLOAT, INT, UCHAR, DOUBLE, VectorType(FLOAT, 3), VectorType(INT, 4), PAIR]
FILLS = [
    None,
    Fill("random"),
    Fill("zeros"),
    Fill("const", (3,)),
    Fill("uniform", (1.0, 2.0)),
    Fill("randint", (2, 9)),
    Fill("iota"),
    Fill("perm"),
    Fill("csr_rows", (100,)),
    Fill("sorted", (1, 90)),
    Fill("clustered", (1, 90, 3)),
    Fill("skewed", (1, 90)),
]


def _written(buffer: BufferArgument, shortest: int) -> bytes:
    memory = np.full(buffer.size_bytes, 255, np.uint8)
    write_contents(buffer, shortest, memory)
    return memory.tobytes()


def _copied(kept: KeptContents, buffer: BufferArgument, shortest: int) -> bytes:
    memory = np.full(buffer.size_bytes, 254, np.uint8)
    kept.write(buffer, shortest, memory)
    return memory.tobytes()


requests = st.tuples(
    st.sampled_from(["a", "rows", "x"]),
    st.sampled_from(ELEMENTS),
    st.integers(0, 300),
    st.sampled_from(FILLS),
    st.integers(1, 40),
)


@given(st.lists(requests, min_size=1, max_size=12), st.sampled_from([1 << 30, 20_000, 0]))
def test_whatever_was_asked_for_before_and_however_little_is_kept(
    asked: list[tuple[str, Type, int, Fill | None, int]], most_bytes: int
) -> None:
    kept = KeptContents(most_bytes)
    for name, element, length, fill, shortest in asked:
        buffer = BufferArgument(name, element, length, fill)
        assert _copied(kept, buffer, shortest) == _written(buffer, shortest)


@pytest.mark.parametrize("element", [FLOAT, UCHAR, VectorType(FLOAT, 3)])
@pytest.mark.parametrize("fill", [None, Fill("randint", (0, 1000)), Fill("clustered", (0, 1000, 5))])
def test_buffers_longer_than_what_is_drawn_at_once(element: Type, fill: Fill | None) -> None:
    buffer = BufferArgument("x", element, piece_of(is_float=element is not UCHAR) + 12_345, fill)
    assert _copied(KeptContents(), buffer, 16) == _written(buffer, 16)
