"""What may be tried is read like the rest of a launch, and what is wrong with it is told at its own characters."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import ConfigError
from model.launch.annotation import Annotation, check_names, find_annotations
from model.launch.conditions import parse_condition
from model.launch.config import parse_config
from model.launch.expression import ExpressionError
from model.launch.tuning import Tuning, parse_range
from model.opencl.program import read_program

KERNEL = "__kernel void mm(__global float *A, int N) { A[get_global_id(0)] = N; }\n"


def only(body: str) -> Annotation:
    (annotation,) = find_annotations(f"// kernelcast: {body}")
    return annotation


def complaints(body: str) -> list[tuple[str, str]]:
    """Each problem, and the characters that it is about."""
    text = f"// kernelcast: {body}\n{KERNEL}"
    (found,) = find_annotations(text)
    (kernel,) = read_program(text).kernels
    line = text.partition("\n")[0]
    problems = (*found.problems, *check_names(found, kernel))
    return [(p.message, line[p.range.start_byte : p.range.end_byte]) for p in problems]


def test_ranges_and_conditions_stand_beside_the_launch() -> None:
    found = only(
        "global=(N, N) tune.TILE=8, 16,32 tune.local=auto where TILE*TILE <= local and N % TILE == 0 N=1024 -DTILE=8 "
        "tune.T=float,float2 where local.x>=8 -cl-mad-enable name=big"
    )
    assert found.problems == ()
    assert str(found.spec.tuning) == (
        "tune.TILE=8,16,32 tune.local=auto tune.T=float,float2 where TILE*TILE <= local and N % TILE == 0 "
        "where local.x>=8"
    )
    assert found.spec.name == "big"
    assert found.spec.options.flags == ("-cl-mad-enable",)
    assert dict(found.spec.options.defines) == {"TILE": "8"}
    assert [name for name, _ in found.spec.values] == ["N"]


def test_local_sizes_are_listed_by_dimension() -> None:
    (tuned,) = only("tune.local=(8,8),(16, 16), (N/4,1) N=64").spec.tuning.ranges
    assert [[size.text for size in choice.sizes] for choice in tuned.choices] == [
        ["8", "8"],
        ["16", "16"],
        ["N/4", "1"],
    ]


def test_values_are_worked_out() -> None:
    (tuned,) = only("tune.SIZE=2**4,3*8,0x10").spec.tuning.ranges
    assert [choice.text for choice in tuned.choices] == ["16", "24"]


@pytest.mark.parametrize(
    ("body", "message", "place"),
    [
        ("tune.TILE=8,,16", "a value is missing between the commas", ","),
        ("tune.TILE=auto", "only tune.local=auto finds values by itself", "auto"),
        ("tune.TILE=8,1.5.2", "`1.5.2` is not a number", "1.5.2"),
        ("tune.=8", "say what to tune", "="),
        ("global=N N=8 where TILE=16", "a condition is missing", "T"),
        ("global=N N=8 where N", "a condition takes a comparison", "N"),
        ("global=N N=8 where 1<N<4", "a condition takes one comparison at a time", "<"),
        ("global=N N=8 where N<=locals", "`locals` has no value here", "locals"),
        ("global=N N=8 tune.local=(M,1)", "`M` has no value here", "M"),
    ],
)
def test_what_is_wrong_is_told_at_its_own_characters(body: str, message: str, place: str) -> None:
    found = complaints(body)
    assert [at for words, at in found if words.startswith(message)] == [place], found


def test_conditions_may_speak_of_sizes_and_the_device() -> None:
    assert complaints("global=N N=8 tune.T=1,2 where T*local.x<=device.max_work_group_size and global>local.y") == []


def test_a_condition_joins_comparisons_as_python_does() -> None:
    condition = parse_condition("a < 1 and b < 1 or c != 0 && (a + b) * 2 >= 4")
    assert condition.holds({"a": 0, "b": 0, "c": 0})
    assert condition.holds({"a": 1, "b": 1, "c": 2})
    assert not condition.holds({"a": 1, "b": 0, "c": 2})
    assert condition.names == {"a", "b", "c"}


def test_a_configuration_says_the_same() -> None:
    text = '[[launch]]\nglobal = ["N"]\nargs = { N = 64 }\ntune = { TILE = [8, 16], local = [[8, 8], [16, 16]] }\n'
    (launch,) = parse_config(text + 'where = ["TILE <= local", "N > 3"]\n', Path("/w/kernelcast.toml")).launches
    assert str(launch.spec.tuning) == "tune.TILE=8,16 tune.local=(8, 8),(16, 16) where TILE <= local where N > 3"


@pytest.mark.parametrize(("line", "message"), [("tune = { TILE = [] }", "tune of `TILE`"), ('where = "N"', "`where`")])
def test_a_configuration_that_is_wrong_is_told_its_line(line: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_config(f"[[launch]]\nglobal = 64\n{line}\n", Path("/w/kernelcast.toml"))
    assert caught.value.line == 3


def test_a_later_range_hides_the_earlier_one_of_its_name() -> None:
    one, other = (Tuning((parse_range("T", value),)) for value in ("1,2", "3"))
    assert str(one.merged(other)) == "tune.T=3"


@given(st.text(st.sampled_from("TN0123456789.,()+-*/%<>=!&|andorwheretun lc"), max_size=60))
def test_nothing_that_is_written_makes_reading_fail(body: str) -> None:
    for key in ("where ", "tune.T=", "tune.local="):
        found = only(f"{key}{body}")
        for problem in found.problems:
            assert problem.range.start_byte <= problem.range.end_byte


@given(st.text(st.sampled_from("ab12()+*%<>=!&| "), max_size=40))
def test_a_condition_is_read_or_refused(text: str) -> None:
    with suppress(ExpressionError):
        assert parse_condition(text).holds({"a": 1, "b": 2, "ab": 3, "ba": 4}) in (True, False)
