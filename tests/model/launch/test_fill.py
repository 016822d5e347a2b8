from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.expression import ExpressionError
from model.launch.fill import parse_fill
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
