"""What a buffer holds is the same, number by number, as the bytes that a measurement writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.contents.buffer import BufferContents, buffer_contents, image_contents, piece_of
from model.contents.leaves import UnknownContents, dtype_of
from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from model.opencl.types import ArrayType, PointerType, ScalarKind, ScalarType, StructType, Type, VectorType
from model.sampling.arguments import segment_of_buffer
from model.sampling.memory import Paged

BOOL = ScalarType("bool", ScalarKind.BOOL, 1)
UCHAR = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
SHORT = ScalarType("short", ScalarKind.SIGNED, 2)
INT = ScalarType("int", ScalarKind.SIGNED, 4)
UINT = ScalarType("uint", ScalarKind.UNSIGNED, 4)
ULONG = ScalarType("ulong", ScalarKind.UNSIGNED, 8)
HALF = ScalarType("half", ScalarKind.FLOAT, 2)
FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
DOUBLE = ScalarType("double", ScalarKind.FLOAT, 8)
SCALARS = [BOOL, UCHAR, SHORT, INT, UINT, ULONG, HALF, FLOAT, DOUBLE]
ROW = StructType("row", (("start", INT), ("len", INT), ("weight", FLOAT)))

scalars = st.sampled_from(SCALARS)
plain: st.SearchStrategy[Type] = st.one_of(
    scalars, st.builds(VectorType, st.sampled_from([UCHAR, INT, FLOAT]), st.sampled_from([2, 3, 4, 8]))
)


def _structs(members: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    named = st.lists(members, min_size=1, max_size=4).map(
        lambda kinds: tuple((f"m{n}", kind) for n, kind in enumerate(kinds))
    )
    return st.one_of(
        st.builds(StructType, st.just("s"), named, is_union=st.booleans(), is_packed=st.booleans()),
        st.builds(ArrayType, members, st.integers(1, 4)),
    )


elements = st.recursive(plain, _structs, max_leaves=5)
numbers = st.integers(-1000, 1000)
widths = st.one_of(st.integers(1, 300), st.integers(1, 2**40))
fills = st.one_of(
    st.sampled_from([Fill("random"), Fill("zeros"), Fill("iota"), Fill("perm")]),
    st.builds(lambda value: Fill("const", (value,)), st.one_of(numbers, st.floats(-9, 9))),
    st.builds(lambda low, width: Fill("randint", (low, low + width)), numbers, widths),
    st.builds(
        lambda word, low, width: Fill(word, (low, low + width)),
        st.sampled_from(["sorted", "skewed", "uniform"]), numbers, widths
    ),
    st.builds(lambda low, width, run: Fill("clustered", (low, low + width, run)), numbers, widths, st.integers(0, 99)),
    st.builds(
        lambda word, count: Fill(word, (count,)),
        st.sampled_from(["csr_rows", "csr_lengths"]), st.integers(0, 10**6)
    ),
    st.builds(lambda count, skew: Fill("csr_rows", (count, skew)), st.integers(0, 10**6), st.floats(0, 3)),
    st.builds(lambda share: Fill("mask", (share,)), st.floats(0, 1)),
    st.just(Fill("choice", (3, 2, 8.5, 1, -1, 0.25))),
)  # fmt: skip


def _bytes(contents: BufferContents) -> np.ndarray[Any, Any]:
    memory = np.full(contents.size_bytes, 0xA5, np.uint8)
    contents.write(memory)
    return memory


def _filled(element: ScalarType, length: int, fill: Fill, name: str = "x") -> np.ndarray[Any, Any]:
    return _bytes(buffer_contents(name, element, length, {"": fill}, 10**6)).view(dtype_of(element))


@given(st.data(), elements, st.integers(0, 60), fills, st.integers(1, 40))
def test_numbers_taken_anywhere_are_those_that_are_written(
    data: st.DataObject, element: Type, length: int, fill: Fill, shortest: int
) -> None:
    contents = buffer_contents("x", element, length, {"": fill}, shortest)
    written = _bytes(contents)
    scalar = data.draw(scalars)
    if len(written) >= scalar.size_bytes:
        offsets = np.array(data.draw(st.lists(st.integers(0, len(written) - scalar.size_bytes), max_size=50)), np.int64)
        expected = np.ascontiguousarray(
            written[offsets[:, None] + np.arange(scalar.size_bytes)].reshape(-1).view(dtype_of(scalar))
        )
        assert contents.take(offsets, scalar).tobytes() == expected.tobytes()
    begin = data.draw(st.integers(0, len(written)))
    part = np.full(data.draw(st.integers(0, len(written) - begin)), 0xA5, np.uint8)
    contents.write(part, begin)
    assert part.tobytes() == written[begin : begin + len(part)].tobytes()


@given(st.data(), fills, fills, fills)
def test_so_are_those_of_members_and_single_elements(data: st.DataObject, whole: Fill, member: Fill, one: Fill) -> None:
    inner = StructType("inner", (("a", UCHAR), ("b", FLOAT)), is_union=data.draw(st.booleans()))
    element = StructType("s", (("n", INT), ("in", ArrayType(inner, 3)), ("v", VectorType(INT, 2))))
    paths = st.sampled_from(["n", "in", "in.b", "v", "v.y", "[3]", "[0].in.a", "[7].v.x"])
    parts = {data.draw(paths): member, data.draw(paths): one}
    contents = buffer_contents("x", element, 9, {"": whole} | parts, 100)
    written = _bytes(contents)
    offsets = np.arange(0, len(written), 4)
    assert contents.take(offsets, INT).tolist() == written.view("<i4").tolist()
    assert contents.take(np.arange(len(written)), UCHAR).tolist() == written.tolist()


@pytest.mark.parametrize("element", [FLOAT, INT, VectorType(FLOAT, 3), ROW])
@pytest.mark.parametrize("fill", ["random", "perm", "sorted:0:99", "clustered:0:999:4", "csr_rows:5000000"])
def test_so_are_those_beyond_what_is_drawn_at_once(element: Type, fill: str) -> None:
    word, *arguments = fill.split(":")
    length = (1 << 20) // (element.size_bytes // 4) + 12_345
    contents = buffer_contents("x", element, length, {"": Fill(word, tuple(map(int, arguments)))}, 16)
    written = _bytes(contents)
    assert piece_of(is_float=True) < len(written) // 4
    offsets = np.random.default_rng(1).integers(0, len(written) // 4, 5000) * 4
    assert contents.take(offsets, UINT).tolist() == written.view("<u4")[offsets // 4].tolist()


def test_what_lies_outside_reads_as_zero_and_shapes_are_kept() -> None:
    contents = buffer_contents("x", INT, 10, {"": Fill("const", (7,))}, 10)
    assert contents.take(np.array([[-4, 0], [36, 40]]), INT).tolist() == [[0, 7], [7, 0]]


@given(scalars, st.integers(1, 3000))
def test_what_nobody_described_is_harmless(element: ScalarType, length: int) -> None:
    values = _bytes(buffer_contents("x", element, length, {}, 12)).view(dtype_of(element))
    if element.kind is ScalarKind.FLOAT:
        assert values.min() >= 0.5
        assert values.max() <= 1.5
    else:
        assert values.min() >= 0
        assert values.max() < (2 if element is BOOL else 12)


@given(st.integers(1, 5000), st.sampled_from("abc"))
def test_a_permutation_has_every_index_once_and_is_no_pattern(length: int, name: str) -> None:
    values = _filled(INT, length, Fill("perm"), name)
    assert sorted(values.tolist()) == list(range(length))
    if length > 1000:
        lines = {int(value) // 16 for value in values[:32]}
        assert len(lines) > 16  # a gather through it finds nearly each element in a cache line of its own


@given(st.integers(0, 2**33), st.integers(1, 2**63 - 2**34))
def test_integers_are_spread_over_all_of_their_range(low: int, width: int) -> None:
    values = _filled(ULONG, 400, Fill("randint", (low, low + width)))
    assert int(values.min()) >= low
    assert int(values.max()) < low + width
    if width > 100:
        assert low + 0.35 * width < float(np.median(values)) < low + 0.65 * width


def test_numbers_are_as_likely_as_their_words_say() -> None:
    assert _filled(INT, 100_000, Fill("mask", (0.08,))).mean() == pytest.approx(0.08, abs=0.005)
    assert set(_filled(FLOAT, 1000, Fill("mask", (0.5,))).tolist()) == {0.0, 1.0}
    assert not _filled(INT, 1000, Fill("mask", (0,))).any()
    assert _filled(INT, 1000, Fill("mask", (1,))).all()
    chosen = _filled(INT, 100_000, Fill("choice", (2, 3, -7, 1)))
    assert set(chosen.tolist()) == {2, -7}
    assert (chosen == 2).mean() == pytest.approx(0.75, abs=0.01)


def test_rows_begin_where_those_before_them_end() -> None:
    contents = buffer_contents(
        "x", ROW, 1000, {"start": Fill("csr_rows", (5000,)), "len": Fill("csr_lengths", (5000,))}, 9
    )
    rows = _bytes(contents).view([("start", "<i4"), ("len", "<i4"), ("weight", "<f4")])
    assert (rows["start"][1:] == rows["start"][:-1] + rows["len"][:-1]).all()
    assert rows["start"][0] == 0
    assert rows["start"][-1] + rows["len"][-1] == 5000
    assert rows["weight"].min() >= 0.5


@given(st.integers(2, 3000), st.integers(0, 10**6))
def test_lengths_in_a_buffer_of_their_own_stay_within_what_the_starts_of_another_say(rows: int, nonzeros: int) -> None:
    starts = _filled(INT, rows + 1, Fill("csr_rows", (nonzeros,)), "starts")
    lengths = _filled(INT, rows, Fill("csr_lengths", (nonzeros,)), "lengths")
    assert (starts[:-1] + lengths).max() <= nonzeros
    assert lengths.sum() == nonzeros


def test_single_elements_go_before_members_and_these_before_the_whole() -> None:
    parts = {"[2]": Fill("const", (9,)), "[2].len": Fill("const", (5,)), "start": Fill("iota"), "": Fill("zeros")}
    rows = _bytes(buffer_contents("x", ROW, 4, parts, 4)).view("<i4").reshape(4, 3)
    assert rows[:, :2].tolist() == [[0, 0], [1, 0], [9, 5], [3, 0]]


def test_contents_depend_on_names_alone() -> None:
    assert (_filled(INT, 1000, Fill("perm")) == _filled(INT, 1000, Fill("perm"))).all()
    assert (_filled(INT, 1000, Fill("perm"), "y") != _filled(INT, 1000, Fill("perm"), "x")).any()
    assert (_filled(FLOAT, 1000, Fill("random"))[:100] == _filled(FLOAT, 100, Fill("random"))).all()


def test_images_hold_colours() -> None:
    floats, bytes_ = (_bytes(image_contents("i", kind, 500)).view(dtype_of(kind)) for kind in (FLOAT, UCHAR))
    assert 0 <= floats.min() < 0.1
    assert 0.9 < floats.max() <= 1
    assert bytes_.max() == 127


@pytest.mark.parametrize("part", ["none", "start.x", "[0].none", "weight.s0"])
def test_a_member_that_there_is_not_is_named(part: str) -> None:
    with pytest.raises(UnknownContents, match="buffer `x` holds `row`, which has no"):
        buffer_contents("x", ROW, 4, {part: Fill("iota")}, 4)


LARGE_STRUCTS = {
    "odd": "typedef struct { float a[299]; int n; uchar c; } S;",
    "a power of two": "typedef struct { int n[256]; float a[254]; double d; } S;",
    "small": "typedef struct { float a; uchar c[605]; } S;",
}


@pytest.mark.parametrize("kind", LARGE_STRUCTS)
@pytest.mark.parametrize("step", [1, 3])
def test_so_are_those_in_the_pages_that_the_interpreter_reads(kind: str, step: int) -> None:
    length = 64
    program = read_program(f"{LARGE_STRUCTS[kind]} __kernel void k(__global S *s) {{ S x = s[0]; s[1] = x; }}")
    (parameter,) = program.kernels[0].parameters
    assert isinstance(parameter.type, PointerType)
    fill = Fill("uniform", (0, 99))
    launch = Launch((length,), None, buffers=(("s", length),), fills=(("s", fill),))
    segment = segment_of_buffer(parameter, launch)
    assert isinstance(segment, Paged)
    contents = buffer_contents("s", parameter.type.pointee, length, {"": fill}, length)
    written = _bytes(contents)
    first = np.arange(0, contents.size_bytes - segment.page_bytes, segment.page_bytes)[::step]
    rows = segment.make(first, segment.page_bytes).reshape(len(first), -1)
    for begin, row in zip(first, rows, strict=True):
        assert row.tobytes() == written[begin : begin + segment.page_bytes].tobytes()
