"""What is measured is predicted to be fast, and not ten times nearly the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Launch
from model.launch.tuning import Tuning, parse_range
from model.opencl.options import BuildOptions
from server.tuning.picking import distance, picked
from server.tuning.search import Search
from tests.server.tuning.conftest import KERNEL

ANNOTATED = f"// kernelcast: global=(N, N) local=(8, 8) N=1024 A=N*N -DT=1\n{KERNEL}"


def test_the_fastest_is_measured_and_few_that_are_nearly_the_same(searching: Callable[..., Search]) -> None:
    found = searching(ANNOTATED, Tuning((parse_range("local", "auto"), parse_range("T", "1,2"))))
    chosen = picked(found.candidates, 10)
    assert len(chosen) == 10
    assert len(set(map(id, chosen))) == 10
    assert chosen[0] is found.candidates[0]
    assert spread([one.launch for one in chosen]) > spread([one.launch for one in found.candidates[:10]])


def test_where_there_are_fewer_all_are_measured(searching: Callable[..., Search]) -> None:
    found = searching(ANNOTATED, Tuning((parse_range("T", "1,2"),)))
    assert picked(found.candidates, 10) == list(found.candidates)
    assert picked((), 10) == []


def spread(launches: list[Launch]) -> float:
    return sum(min(distance(one, other) for other in launches if other is not one) for one in launches)


def test_words_and_factors_are_steps() -> None:
    plain = Launch((64, 64), (8, 8), options=BuildOptions((("T", "4"),)))
    assert distance(plain, Launch((64, 64), (16, 4), options=BuildOptions((("T", "4"),)))) == 2
    assert distance(plain, Launch((64, 64), (8, 8), options=BuildOptions((("T", "16"),)))) == 2
    assert distance(plain, Launch((64, 64), (8, 8), options=BuildOptions((("T", "float"),)))) == 1


_SIZES = st.tuples(st.integers(1, 1024), st.integers(1, 1024))
_LAUNCHES = st.builds(
    lambda size, local, value: Launch(size, local, options=BuildOptions((("T", value),))),
    _SIZES,
    _SIZES | st.none(),
    st.sampled_from(["0", "1", "-3", "2.5", "float", "nan", "inf"]),
)


@given(_LAUNCHES, _LAUNCHES)
def test_a_distance_is_the_same_both_ways_and_nothing_to_itself(one: Launch, other: Launch) -> None:
    assert distance(one, other) >= 0
    assert distance(one, other) == pytest.approx(distance(other, one))
    assert distance(one, one) == 0
