"""Which guesses of a launch are named when its kernel goes astray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Assumption, Fill, Launch
from model.opencl.kernel import Kernel
from profiler.guesses import advice, guessed_among, listed
from profiler.measurement import MeasureRequest

Make = Callable[..., MeasureRequest]


@pytest.fixture
def make(make_kernel: Callable[..., Kernel], make_request: Make, types: Any) -> Make:
    kernel = make_kernel("k", x=types.buffer(), to=types.buffer(types.int), border=types.int, scale=types.float)

    def request(*guessed: str, fills: tuple[tuple[str, Fill], ...] = ()) -> MeasureRequest:
        scalars = (("border", 3), ("scale", 0.5), ("v.x", 7), ("p.width", 9))
        assumptions = tuple(Assumption(name, "") for name in guessed)
        launch = Launch((64,), None, scalars, (("x", 64), ("to", 64)), fills=fills, assumptions=assumptions)
        return make_request("", kernel, launch)

    return request


def test_only_scalars_that_nobody_gave_are_guesses(make: Make) -> None:
    assert guessed_among(["border", "scale"], make("border")) == (("border", 3),)
    assert guessed_among(["border"], make()) == ()


def test_lanes_and_members_are_called_as_the_launch_calls_them(make: Make) -> None:
    assert guessed_among(["v.s0", "p.width"], make("v.x", "p.width")) == (("v.x", 7), ("p.width", 9))
    assert guessed_among(["v.s1"], make("v.x")) == ()


def test_advice_names_what_may_mislead_an_index(make: Make) -> None:
    assert advice(make("border", "scale")) == (
        "say what `to` and `border` hold, as in // kernelcast: fill.to=randint:0:16 border=3"
    )


def test_there_is_no_advice_where_all_was_given(make: Make) -> None:
    assert advice(make(fills=(("to", Fill("iota")),))) == ""


def test_a_fill_that_was_inferred_may_still_be_wrong(make: Make) -> None:
    assert "fill.to=" in advice(make("to", fills=(("to", Fill("iota")),)))


@pytest.mark.parametrize(
    ("names", "text"), [(["a"], "`a`"), (["a", "b"], "`a` and `b`"), (["a", "b", "c"], "`a`, `b` and `c`")]
)
def test_names_are_listed_as_people_do(names: list[str], text: str) -> None:
    assert listed(names) == text
