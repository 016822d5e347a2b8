"""Expressions of somebody else's annotations: answered or refused by name, in little time and memory."""

from __future__ import annotations

import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import ConfigError, LaunchError
from model.launch.annotation import find_annotations
from model.launch.arithmetic import LARGEST, LEAST
from model.launch.config import parse_config
from model.launch.expression import MAX_LENGTH, ExpressionError, parse_expression
from model.launch.fill import parse_fill
from model.launch.sizes import parse_sizes

NAMES = {"n": 10, "huge": LARGEST, "low": LEAST, "small": 1e-300, "big": 1e300}
MOST_BYTES = 8 << 20
MOST_STEPS = 400_000  # events of Python's own tracing; a clock would measure the machine

BOMBS = [
    "9**9**9", "9**9**9**9", "2**63**63", "(-9)**9**9", "huge**huge", "big**big", "1<<99999999999", "0x" + "f" * 900,
    "9" * 999, "1e999999", "(" * 900, "(" * 400 + "1" + ")" * 400, "-" * 999 + "1", "**".join(["9"] * 300),
    "+".join(["n"] * 499), "min(" * 200 + "1" + ")" * 200, "min(" + ",".join("1" * 450) + ")", "ceil_div(huge,small)",
    "n" * 5000, "__import__('os').system('true')", "().__class__.__bases__", "n.__class__", "lambda: 1",
    "n if n else n", "1\x00", "\ud800", "१२", "𝟙", "1_000", "0b1", "1e308*10",
    "huge*huge", "low-1", "low//-1", "big//small",
    "big%small",
]  # fmt: skip
tokens = st.sampled_from(
    ["n", "huge", "low", "small", "big", "9", "0", "1e300", "0x7f", "(", ")", "+", "-", "*", "/", "//", "%", "**", ",",
     "min(", "max(", "ceil_div(", " ", ".", "'", "_", "é"]
)  # fmt: skip


class _Steps:
    """Counts what Python does, and gives up beyond a bound."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *_: object) -> _Steps:
        self.count += 1
        assert self.count < MOST_STEPS, "this goes on and on"
        return self


def _bounded(text: str) -> None:
    before, steps = sys.gettrace(), _Steps()
    tracemalloc.start()
    sys.settrace(steps)
    answer: int | float | ExpressionError
    try:
        answer = parse_expression(text).evaluate(NAMES)
    except ExpressionError as error:
        answer = error
    finally:
        sys.settrace(before)
        _, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most_bytes < MOST_BYTES
    if isinstance(answer, ExpressionError):
        assert 0 <= answer.start <= answer.end <= len(text) + 1  # the place behind the text can be seen, too
        assert 0 < len(answer.message) < 2 * MAX_LENGTH
    else:
        assert isinstance(answer, float) or LEAST <= answer <= LARGEST


@pytest.mark.parametrize("text", BOMBS, ids=range(len(BOMBS)))
def test_a_bomb_does_not_go_off(text: str) -> None:
    _bounded(text)


@given(st.lists(tokens, max_size=60).map("".join) | st.text(max_size=60))
def test_every_text_is_answered_or_refused(text: str) -> None:
    _bounded(text)


@given(st.sampled_from("(-+"), st.integers(1, 100_000))
def test_no_depth_ends_the_stack(opening: str, depth: int) -> None:
    with pytest.raises(ExpressionError, match=r"nested more than|longer than|stops short|never closed"):
        parse_expression(opening * depth)


@given(st.lists(tokens, max_size=40).map("".join))
def test_the_same_holds_wherever_expressions_stand(text: str) -> None:
    for read in (parse_sizes, parse_fill):
        with suppress(LaunchError):
            read(text)
    with suppress(ConfigError):
        parse_config(f"[[launch]]\nglobal = [{text!r}]\nargs = {{ n = {text!r} }}\n", Path("/w/kernelcast.toml"))
    found = find_annotations(f"// kernelcast: global=({text}) n={text}\n__kernel void k() {{}}\n")
    assert all(problem.message for each in found for problem in each.problems)


def test_a_thousand_annotations_are_read_in_proportion_to_their_length() -> None:
    line = "// kernelcast: global=(9**9**9, n) local=((((16)))) n=9**9 fill.a=randint:0:9**9\n"
    counts = []
    for lines in (50, 100, 200):
        steps, before = _Steps(), sys.gettrace()
        sys.settrace(steps)
        try:
            assert len(find_annotations(line * lines)) == lines
        finally:
            sys.settrace(before)
        counts.append(steps.count)
    assert counts[2] - counts[1] < 3 * (counts[1] - counts[0])
