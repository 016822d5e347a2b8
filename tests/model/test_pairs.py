"""Two versions predicted side by side: what cancels, and how sure the ratio is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.pairs import Side, ratio_of, relative_to
from model.prediction import Basis, Ratio

SHARES = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda each: tuple(x / sum(each) for x in each))
SIDES = st.builds(
    Side,
    runtime_us=st.floats(0.01, 1e7),
    below=st.floats(0.05, 4),
    above=st.floats(0.05, 4),
    analytic=st.floats(-6, 24),
    shares=SHARES,
    doubt=st.floats(0, 3),
    basis=st.sampled_from([Basis.ANALYTIC, Basis.MODEL, Basis.COMPILED]),
    place=st.one_of(st.just(()), st.tuples(st.floats(-2, 2), st.floats(-2, 2))),
)


@given(SIDES)
def test_a_kernel_beside_itself_takes_the_same_time(side: Side) -> None:
    ratio = ratio_of(side, side)
    assert ratio.p50 == 1
    assert ratio.p10 <= 1 <= ratio.p90


@given(SIDES, SIDES)
def test_which_version_comes_first_turns_the_ratio_over(one: Side, other: Side) -> None:
    there, back = ratio_of(one, other), ratio_of(other, one)
    assert there.p50 == pytest.approx(1 / back.p50)
    assert there.p10 == pytest.approx(1 / back.p90)
    assert there.p90 == pytest.approx(1 / back.p10)


@given(SIDES, SIDES)
def test_a_ratio_is_never_less_sure_than_two_unrelated_times(one: Side, other: Side) -> None:
    ratio = ratio_of(one, other)
    assert math.log2(ratio.p90 / ratio.p50) <= math.hypot(one.above, other.below) + 1e-9
    assert ratio.p10 <= ratio.p50 <= ratio.p90


@given(SIDES, st.floats(0.1, 10))
def test_what_both_models_misjudge_alike_cancels(side: Side, off: float) -> None:
    faster = replace(side, runtime_us=side.runtime_us / 2, analytic=side.analytic - 1)
    both_off = [replace(each, runtime_us=each.runtime_us * off) for each in (faster, side)]
    assert ratio_of(*both_off).p50 == pytest.approx(ratio_of(faster, side).p50) == pytest.approx(0.5)


def test_the_less_alike_two_versions_are_the_less_sure_is_their_ratio() -> None:
    side = Side(100.0, 3.0, 3.0, 6.0, (1.0, 0.0), 0.0, Basis.MODEL, (1.0, 1.0))
    for other in (
        replace(side, shares=(0.5, 0.5)),
        replace(side, place=(1.0, 1.1)),
        replace(side, analytic=8.0),
        replace(side, doubt=2.0),
    ):
        assert _width(ratio_of(side, other)) > _width(ratio_of(side, side))


def test_an_analytical_ratio_is_the_less_sure_the_larger_it_is() -> None:
    side = Side(100.0, 3.0, 3.0, 6.0, (1.0, 0.0), 0.0, Basis.ANALYTIC)
    assert _width(ratio_of(side, replace(side, runtime_us=400.0, analytic=8.0))) > _width(ratio_of(side, side))


@given(SIDES, SIDES)
def test_versions_whose_places_are_not_known_count_as_far_apart(one: Side, other: Side) -> None:
    known, unknown = (replace(one, place=(0.0,)), replace(other, place=(9.0,))), replace(other, place=())
    assert ratio_of(known[0], unknown) == ratio_of(*known)


def _width(ratio: Ratio) -> float:
    return ratio.p90 / ratio.p50


@given(st.floats(0.01, 1e6), st.floats(0, 0.5))
def test_a_noisy_measurement_widens_what_follows_from_it(measured_us: float, noise: float) -> None:
    ratio = Ratio(0.7, 0.9, 1.1)
    found, quiet = (
        relative_to(ratio, measured_us, each, "2026-11-27T14:02:00+00:00", 0.0).runtime_us for each in (noise, 0.0)
    )
    assert found.p10 <= quiet.p10 * (1 + 1e-9)
    assert found.p90 >= quiet.p90 * (1 - 1e-9)
    assert quiet.p50 == pytest.approx(0.9 * measured_us)


def test_a_relative_time_stays_above_its_bound() -> None:
    found = relative_to(Ratio(0.1, 0.2, 0.4), 100.0, 0.0, "2026-11-27T14:02:00+00:00", 50.0)
    # The lifted median takes the upper end along: the interval stays as wide above it.
    assert (found.runtime_us.p10, found.runtime_us.p50, found.runtime_us.p90) == (50.0, 50.0, 100.0)
