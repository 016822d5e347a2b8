"""What the analysis expects of a buffer is what the buffer holds, whichever part of it is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.contents.buffer import buffer_contents
from model.launch.fill import parse_fill, parse_named_fill
from model.launch.launch import Fill
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType
from model.work.expressions.contents import contents_of
from model.work.expressions.symbolic import number, symbol
from tests.model.conftest import Count

INT = ScalarType("int", ScalarKind.SIGNED, 4)
FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
ROW = StructType("row", (("start", INT), ("len", INT), ("weight", FLOAT)))
HEAD = """typedef struct { int start, len; float w; } row;
typedef struct { int iterations; uint salt[4]; float2 s; } params;"""


def fills(*words: str) -> dict[str, Fill]:
    named = (parse_named_fill(*word.split("=")) for word in words)
    return {name: spec.evaluate({}) for name, spec in named}


def loop_trips(count: Count, bound: str, *words: str) -> float:
    """How often each of 1000 work-items goes through a loop to `bound`."""
    text = f"""{HEAD}
    __kernel void k(__global const row *rows, __global const params *p, __global const int *state,
                    __global const int4 *four, __global float *y) {{
        const int i = get_global_id(0);
        float s = 0.0f;
        for (int j = 0; j < {bound}; j++) s += y[j & 63];
        y[i] = s;
    }}"""
    lengths = {"rows": 1001, "p": 2, "state": 1000, "four": 1000, "y": 1000}
    counted = count(text, (1000,), (10,), buffers=lengths, fills=fills(*words))
    return sum(a.count for a in counted.accesses("y", store=False)) / 1000


@pytest.mark.parametrize(
    ("bound", "words", "trips"),
    [
        ("p[0].iterations", ["p.iterations=const:1000"], 1000),
        ("p[0].iterations", ["p[0].iterations=77"], 77),
        ("p[1].iterations", ["p.iterations=const:5", "p[0].iterations=77"], 5),
        ("p->salt[2]", ["p.salt=const:33"], 33),
        ("state[0]", ["state=randint:0:9", "state[0]=250"], 250),
        ("state[0] * 2", ["state[0]=250"], 500),
        ("rows[i].len", ["rows.len=randint:4:9"], 6),
        ("rows[i].len", ["rows.len=csr_lengths:20000", "rows.start=csr_rows:20000"], 20),
        ("rows[i + 1].start - rows[i].start", ["rows.start=csr_rows:20000"], 20),
        ("four[i].y", ["four.y=const:12"], 12),
        ("four[i].x", ["four=const:8", "four.y=const:12"], 8),
        ("state[i]", ["state=choice:0@3,100"], 25),
        ("state[i] * 64", ["state=mask:0.25"], 16),
    ],
)
def test_a_loop_runs_as_often_as_a_part_says(count: Count, bound: str, words: list[str], trips: float) -> None:
    assert loop_trips(count, bound, *words) == pytest.approx(trips, rel=0.03)


@pytest.mark.parametrize(
    ("fill", "condition", "share"),
    [
        ("mask:0.08", "x[i] != 0", 0.08),
        ("mask:0.08", "x[i]", 0.08),
        ("mask:1", "x[i] == 0", 0.0),
        ("mask:0.003", "x[i] != 0", 0.003),
        ("choice:2@3,-7", "x[i] > 0", 0.75),
        ("choice:0@9,1@0.5,2@0.5", "x[i] == 2", 0.05),
    ],
)
def test_a_condition_holds_as_often_as_weights_say(count: Count, fill: str, condition: str, share: float) -> None:
    text = f"""__kernel void k(__global const int *x, __global float *y)
    {{ const int i = get_global_id(0); if ({condition}) y[i] = 1.0f; }}"""
    known = {"x": parse_fill(fill).evaluate({})}
    counted = count(text, (1000,), (10,), buffers={"x": 1000, "y": 1000}, fills=known)
    assert sum(a.count for a in counted.accesses("y")) == pytest.approx(1000 * share, rel=0.02, abs=0.2)


words = st.sampled_from(
    ["zeros", "const:7", "iota", "perm", "randint:3:90", "sorted:0:500", "clustered:0:500:9", "skewed:0:300",
     "csr_rows:9000", "csr_lengths:9000", "csr_lengths:9000:1", "mask:0.3", "choice:1@3,8,-2@0.5"]
)  # fmt: skip
kinds: st.SearchStrategy[Type] = st.sampled_from(
    [INT, FLOAT, VectorType(INT, 4), VectorType(FLOAT, 3), ArrayType(INT, 3)]
)


@given(kinds, words, st.integers(300, 2000))
def test_means_and_bounds_are_those_of_the_contents(kind: Type, word: str, length: int) -> None:
    fill = parse_fill(word).evaluate({})
    element = StructType("s", (("first", INT), ("x", kind)))
    offset = element.offsets()[1]
    known = contents_of(length, element, {"x": fill})
    held = buffer_contents("b", element, length, {"x": fill}, length)
    scalar = kind if isinstance(kind, ScalarType) else kind.element if isinstance(kind, VectorType | ArrayType) else INT
    assert isinstance(scalar, ScalarType)
    lanes = kind.size_bytes // 4
    at = (np.arange(length)[:, None] * element.size_bytes + offset + 4 * np.arange(lanes)).reshape(-1)
    values = held.take(at, scalar).astype(np.float64)
    means = [known.at_byte(int(byte)) for byte in at]
    assert None not in means
    spread = float(values.std()) / len(values) ** 0.5
    if fill.kind != "clustered":  # wherever it wanders
        expected = np.array(means, np.float64)
        assert values.mean() == pytest.approx(expected.mean(), abs=5 * spread + 0.6, rel=0.02)
    part = known.of_load(number(offset) + symbol("i") * number(element.size_bytes))
    assert part.bounds is not None
    assert part.bounds[0] <= values.min()
    assert values.max() <= part.bounds[1]
    drawn = part.values_of([(i + 0.5) / 200 for i in range(200)])
    assert drawn is not None
    if fill.kind != "clustered" and fill != Fill("csr_lengths", (9000, 1)):
        assert np.mean(drawn) == pytest.approx(values.mean(), abs=5 * spread + 1, rel=0.1)


def test_nothing_is_said_of_what_may_be_any_member() -> None:
    known = contents_of(10, ROW, {"start": Fill("iota"), "len": Fill("const", (3,)), "[2].len": Fill("const", (9,))})
    assert known.of_load(symbol("i") * number(4)).bounds is None
    assert known.of_load(symbol("i") * number(12) + number(4)).bounds == (3, 9)
    assert known.of_load(number(28)).bounds == (9, 9)
    assert known.of_load(number(16)).bounds == (3, 3)
    assert known.of_load(symbol("i") * number(12) + number(8)).bounds is None
    assert [known.at_byte(byte) for byte in (0, 12, 24, 4, 28, 40, 8)] == [0, 1, 2, 3, 9, 3, None]
