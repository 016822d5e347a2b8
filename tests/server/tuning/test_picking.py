"""What is measured next follows from what was measured, and is not ten times nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.tuning import Tuning, parse_range
from server.tuning.picking import Picker, in_rounds, rounds_of, steps
from server.tuning.search import Candidate, Search
from tests.server.tuning.conftest import KERNEL

ANNOTATED = f"// kernelcast: global=(N, N) local=(8, 8) N=1024 A=N*N -DT=1\n{KERNEL}"


@pytest.fixture
def space(searching: Callable[..., Search]) -> Search:
    return searching(ANNOTATED, Tuning((parse_range("local", "auto"), parse_range("T", "1,2"))))


def measured_of(space: Search, takes: Callable[[Candidate], float | None], most: int = 10) -> list[Candidate]:
    """What is measured where launches take so long, in the order of rounds."""
    every = (space.baseline, *space.candidates)
    chosen: list[Candidate] = []

    def measure(number: int, places: Sequence[int]) -> dict[int, float | None]:
        chosen.extend(every[place] for place in places)
        return {place: takes(every[place]) for place in ([0, *places] if number == 0 else places)}

    in_rounds(space.baseline, space.candidates, rounds_of(most), measure)
    return chosen


def test_as_many_as_asked_for_are_measured_once_each_and_the_fastest_as_predicted_first(space: Search) -> None:
    chosen = measured_of(space, lambda one: one.predicted_us)
    assert len(chosen) == 10
    assert len(set(map(id, chosen))) == 10
    assert chosen[0] is space.candidates[0]


def test_a_value_that_is_far_better_than_predicted_is_followed(space: Search) -> None:
    """All predictions for one value of a macro are off by the same factor: two rounds are enough to see it."""
    for value in ("1", "2"):
        chosen = measured_of(space, lambda one: one.predicted_us * (0.01 if own_value(one) == value else 1.0))  # noqa: B023
        assert [own_value(one) for one in chosen[6:]] == [value] * 4


def own_value(one: Candidate) -> str:
    return dict(one.launch.options.defines)["T"]


def test_more_is_found_than_the_fastest_as_predicted_where_these_are_off(space: Search) -> None:
    def takes(one: Candidate) -> float:
        return one.predicted_us * prod(one.launch.local_size or (1024,)) ** 0.5

    chosen = measured_of(space, takes)
    assert min(map(takes, chosen)) < min(map(takes, space.candidates[:10]))


def test_what_fails_is_not_looked_around_any_further(space: Search) -> None:
    first = own_value(space.candidates[0])
    chosen = measured_of(space, lambda one: None if own_value(one) == first else one.predicted_us)
    assert any(own_value(one) != first for one in chosen)


def test_where_there_are_fewer_all_are_measured(searching: Callable[..., Search]) -> None:
    few = searching(ANNOTATED, Tuning((parse_range("T", "1,2"),)))
    assert measured_of(few, lambda one: one.predicted_us) == list(few.candidates)
    assert Picker(few.baseline, ()).picked(10) == []


@given(st.integers(1, 500))
def test_rounds_add_up(most: int) -> None:
    counts = rounds_of(most)
    assert sum(counts) == most
    assert all(count > 0 for count in counts)


_COORDINATES = st.none() | st.text(max_size=3) | st.floats(-40, 40)


@given(_COORDINATES, _COORDINATES)
def test_steps_are_the_same_both_ways_and_none_to_itself(one: float | str | None, other: float | str | None) -> None:
    assert steps(one, other) == steps(other, one) >= 0
    assert steps(one, one) == 0
    assert steps(one, other) <= 6
