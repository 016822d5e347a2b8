from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.expression import ExpressionError
from model.launch.fill import parse_fill, parse_named_fill, written_fill
from model.launch.launch import Fill


@pytest.mark.parametrize(
    ("text", "fill"),
    [
        ("random", Fill("random")),
        ("const:1.5", Fill("const", (1.5,))),
        ("uniform:-1.0:1", Fill("uniform", (-1.0, 1))),
        ("randint:0:n", Fill("randint", (0, 8))),
        ("csr_rows:n*16", Fill("csr_rows", (128,))),
        ("csr_rows:n*16:1.5", Fill("csr_rows", (128, 1.5))),
        ("sorted:0:n", Fill("sorted", (0, 8))),
        ("clustered:0:n:2", Fill("clustered", (0, 8, 2))),
        ("skewed:0.5:n", Fill("skewed", (0.5, 8))),
        ("csr_lengths:n*16:1", Fill("csr_lengths", (128, 1))),
        ("mask:0.08", Fill("mask", (0.08,))),
        ("choice:0@9,n", Fill("choice", (0, 9, 8, 1))),
        ("choice:max(n, 3)@0.5, -1.5 @ 2", Fill("choice", (8, 0.5, -1.5, 2))),
    ],
)
def test_a_fill_is_a_word_with_values(text: str, fill: Fill) -> None:
    assert parse_fill(text).evaluate({"n": 8}) == fill


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rnadom", "allowed are random, zeros, iota, perm, const:V"),
        ("rnadom", "Did you mean `random`?"),
        ("randint:5", "written `randint:LO:HI`"),
        ("randint:5:5", "HI is excluded"),
        ("uniform:2:1", "holds no value"),
        ("randint:0:m", "unknown name `m`"),
        ("csr_rows:-1", "below 0"),
        ("csr_rows", "written `csr_rows:NNZ[:SKEW]`, with 1 or 2 value(s)"),
        ("csr_rows:1:2:3", "with 1 or 2 value(s)"),
        ("csr_rows:9:-1", "SKEW of `csr_rows:9:-1` is -1, which is below 0"),
        ("csr_rows:9:99", "2 is very skewed"),
        ("sorted:3:3", "HI is excluded"),
        ("skewed:3", "written `skewed:LO:HI`"),
        ("clustered:0:9", "written `clustered:LO:HI:RUN`"),
        ("clustered:0:9:0-1", "RUN of `clustered:0:9:0-1` is -1, which is below 0"),
        ("clusterd:0:9:1", "Did you mean `clustered`?"),
        ("const:", "a value is missing"),
        ("mask:8", "SHARE of `mask:8` is 8; allowed are 0 to 1, as in mask:0.08"),
        ("mask", "written `mask:SHARE`"),
        ("choice:", "written `choice:V@W,V@W`"),
        ("choice", "written `choice:V@W,V@W`"),
        ("choice:1@-2", "a weight of `choice:1@-2` is -2, which is below 0"),
        ("choice:1@0,2@0", "chooses nothing: all weights are 0"),
        ("choice:1,,2", "a value is missing"),
        ("choice:1@2@3", "`@` was not expected here"),
        ("choice:" + "1," * 64 + "1", "65 values to choose from; at most 64"),
        ("", "allowed are"),
    ],
)
def test_a_wrong_fill_says_what_is_allowed(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse_fill(text).evaluate({"n": 8})
    assert says in refused.value.message


@given(st.integers(-(2**63), 2**62), st.integers(1, 2**62))
def test_a_fill_in_numbers_reads_back_as_itself(low: int, width: int) -> None:
    fill = Fill("randint", (low, low + width))
    assert parse_fill(str(fill)).evaluate({}) == fill


@given(st.lists(st.tuples(st.integers(-99, 99) | st.floats(-9, 9), st.integers(1, 9) | st.floats(0.1, 9)), min_size=1))
def test_a_choice_reads_back_as_itself(pairs: list[tuple[float, float]]) -> None:
    fill = Fill("choice", tuple(number for pair in pairs[:64] for number in pair))
    assert parse_fill(fill.written).evaluate({}) == fill


@pytest.mark.parametrize(
    ("key", "text", "fill"),
    [
        ("rows.start", "csr_rows:10", Fill("csr_rows", (10,))),
        ("state[0]", "1000", Fill("const", (1000,))),
        ("state[17]", "n * 2", Fill("const", (16,))),
        ("params[0].in.most", "-0.5", Fill("const", (-0.5,))),
        ("state[3]", "zeros", Fill("zeros")),
    ],
)
def test_members_and_single_elements_have_fills_of_their_own(key: str, text: str, fill: Fill) -> None:
    read, spec = parse_named_fill(key, text)
    assert read == key
    assert spec.evaluate({"n": 8}) == fill
    assert parse_named_fill(key, written_fill(key, fill))[1].evaluate({}) == fill


@pytest.mark.parametrize(
    "key", ["state[", "state[]", "state[n]", "state[-1]", "rows.", ".start", "a[1][2]", "rows start", ""]
)
def test_what_names_no_part_says_which_forms_there_are(key: str) -> None:
    with pytest.raises(ExpressionError, match=r"`NAME`, `NAME.member`, `NAME\[INDEX\]` or `NAME\[INDEX\].member`"):
        parse_named_fill(key, "zeros")


def test_a_whole_buffer_needs_a_word() -> None:
    with pytest.raises(ExpressionError, match="`1000` does not describe a buffer's contents"):
        parse_named_fill("state", "1000")
