"""The interval of the median is honest about how little was measured."""

from __future__ import annotations

from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from profiler.statistics import median_interval, quantile, spread_percent

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
