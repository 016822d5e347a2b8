"""The interval of the median is honest about how little was measured."""

from __future__ import annotations

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.statistics import drift_percent, median_interval, outliers, quantile, spread_percent

times = st.lists(st.floats(0.1, 1e6), min_size=1, max_size=60)


@given(times)
def test_the_interval_holds_the_median(values: list[float]) -> None:
    low, high = median_interval(values)
    assert low <= median(values) <= high


def test_few_values_give_the_widest_interval_and_many_a_narrow_one() -> None:
    assert median_interval([3, 1, 2]) == (1, 3)
    assert median_interval(range(1, 7)) == (1, 6)
    assert median_interval(range(1, 101)) == (40, 61)  # the textbook's ranks for n = 100


@given(times)
def test_quantiles_stay_within_what_was_seen(values: list[float]) -> None:
    assert min(values) <= quantile(values, 0.1) <= quantile(values, 0.9) <= max(values)


def test_one_outlier_among_batches_does_not_count_as_spread() -> None:
    assert spread_percent([10.0, 10.0, 10.0, 10.0, 99.0]) == 0
    assert spread_percent([9.0, 10.0, 11.0]) > 5


@given(times)
def test_outliers_are_a_minority(values: list[float]) -> None:
    assert 0 <= outliers(values) <= len(values) / 2


def test_an_outlier_is_far_from_the_rest_and_not_just_a_step_of_the_clock_away() -> None:
    assert outliers([10.0] * 20 + [30.0]) == 1
    assert outliers([10.0] * 20 + [10.1]) == 0
    assert outliers([9.0, 10.0, 11.0, 10.0, 9.5, 10.5]) == 0


@given(st.lists(st.floats(1.0, 1e6), max_size=30))
def test_drift_turns_round_with_the_order(values: list[float]) -> None:
    assert drift_percent(values[::-1]) == pytest.approx(-drift_percent(values))


@given(st.lists(st.floats(0.999, 1.001), max_size=30))
def test_what_stays_within_a_percent_does_not_drift(values: list[float]) -> None:
    assert drift_percent(values) == 0


def test_a_steady_rise_is_a_drift_of_its_size_and_a_jump_between_two_levels_is_not() -> None:
    assert drift_percent([100 + i for i in range(11)]) == pytest.approx(100 * 10 / 105)
    assert drift_percent([100, 110] * 6) == 0
    assert drift_percent([100, 101, 102]) == 0  # too few to tell


def test_trends_are_seldom_seen_in_shuffled_times() -> None:
    rng = random.Random(1)
    shuffled = [[rng.gauss(100, 10) for _ in range(20)] for _ in range(300)]
    assert sum(drift_percent(values) != 0 for values in shuffled) <= 9
