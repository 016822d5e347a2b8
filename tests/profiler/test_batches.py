"""Which batches count, when there are enough, and what the reported interval covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.batches import (
    MIN_BATCHES,
    Batch,
    Load,
    disturbances,
    is_disturbed,
    is_enough,
    is_on_shared_host,
    is_warm,
    judge,
    median_of,
    others_meanwhile,
    others_share,
    repeat_interval,
    sampling_interval,
)

QUIET = Load(elapsed_s=0.1, processors=4, ran_s=0.38, waited_s=0.002, others_s=0.0)
times = st.floats(1.0, 1e6)
loads = st.builds(
    Load,
    elapsed_s=st.floats(1e-3, 10),
    processors=st.integers(1, 64),
    ran_s=st.floats(0, 100),
    waited_s=st.none() | st.floats(0, 100),
    others_s=st.none() | st.floats(-1, 100),
    stolen_s=st.floats(0, 1),
    matters=st.booleans(),
)
batches = st.lists(
    st.builds(Batch, st.lists(times, min_size=1, max_size=5).map(tuple), load=st.none() | loads),
    min_size=1,
    max_size=20,
)


def series(*medians_us: float, load: Load | None = QUIET) -> list[Batch]:
    return [Batch((time_us,), load=load) for time_us in medians_us]


@given(batches)
def test_what_counts_is_what_was_seen_less_what_was_thrown_away(seen: list[Batch]) -> None:
    judged = judge(seen)
    assert len(judged.batches) + judged.thrown_away == len(seen)
    assert all(batch in seen for batch in judged.batches)
    assert judged.thrown_away == 0 or len(judged.batches) >= MIN_BATCHES


@given(batches)
def test_the_reported_interval_holds_the_median_and_is_never_narrower_than_sampling_alone(seen: list[Batch]) -> None:
    low, high = repeat_interval(seen)
    inner_low, inner_high = sampling_interval(seen)
    assert 0 <= low <= inner_low * (1 + 1e-9)
    assert inner_low <= median_of(seen) <= inner_high <= high * (1 + 1e-9)


@given(batches, st.floats(0.01, 100))
def test_units_do_not_matter(seen: list[Batch], factor: float) -> None:
    scaled = [replace(batch, runs_us=tuple(run * factor for run in batch.runs_us)) for batch in seen]
    low, high = repeat_interval(seen)
    assert repeat_interval(scaled) == pytest.approx((low * factor, high * factor), rel=1e-6)


def test_equal_batches_still_leave_the_difference_between_two_processes() -> None:
    low, high = repeat_interval(series(*[100.0] * 8))
    assert 97 < low < 99
    assert 101 < high < 103


def test_where_a_host_has_other_guests_a_repeat_may_lie_further_away() -> None:
    stolen = replace(QUIET, others_s=0.04, stolen_s=0.04)
    seen = series(*[100.0] * 6, load=stolen)
    assert is_on_shared_host([stolen, QUIET])
    assert not is_on_shared_host([QUIET, replace(stolen, matters=False)])
    low, high = repeat_interval(seen, on_shared_host=True)
    assert 90 < low < 93
    assert 108 < high < 110


def test_times_that_spread_widely_are_still_times() -> None:
    low, high = repeat_interval(series(10.0, 100.0, 1000.0, 30.0, 300.0, 100.0))
    assert 0 < low < 20
    assert high > 500


def test_a_clock_too_coarse_for_some_batches_does_no_harm() -> None:
    assert repeat_interval(series(0.0, 0.0, 1.0))[1] >= 0
    assert repeat_interval(series(0.0, 1.0, 1.0))[0] == 0


def test_a_single_run_is_known_less_well_than_six_batches() -> None:
    low, high = repeat_interval(series(100.0))
    assert low < 96
    assert high > 104


def test_batches_that_differ_from_placement_to_placement_widen_the_interval() -> None:
    same = repeat_interval(series(*[100.0] * 12))
    moody = repeat_interval(series(*[96.0, 104.0, 99.0, 101.0] * 3))
    assert moody[1] - moody[0] > 1.5 * (same[1] - same[0])


def test_five_batches_are_not_enough_and_six_that_agree_are() -> None:
    assert not is_enough(series(*[100.0] * 5))
    assert is_enough(series(*[100.0] * 6))
    assert not is_enough(series(100, 110, 90, 105, 95, 100))


def test_a_batch_whose_threads_waited_for_others_is_thrown_away() -> None:
    waited = Batch((150.0,), load=replace(QUIET, waited_s=0.2, others_s=0.15))
    judged = judge([*series(*[100.0] * 6), waited])
    assert judged.thrown_away == 1
    assert waited not in judged.batches


def test_threads_that_wait_for_each_other_on_an_idle_machine_are_not_disturbed() -> None:
    assert disturbances(series(100.0, load=replace(QUIET, waited_s=0.2))) == (False,)
    miscounted = replace(QUIET, waited_s=0.2, others_s=0.03)
    assert not any(disturbances([*series(*[100.0] * 9), *series(100.0, load=miscounted)]))
    stolen = replace(QUIET, waited_s=0.2, others_s=0.04, stolen_s=0.04)
    assert not any(disturbances(series(*[100.0] * 6, load=stolen)))
    others = replace(stolen, stolen_s=0.0)
    assert all(disturbances(series(*[100.0] * 6, load=others)))


def test_a_slow_batch_is_disturbed_if_others_were_busy_and_else_the_kernel_is_like_that() -> None:
    crowded = replace(QUIET, others_s=0.1)
    assert disturbances([*series(*[100.0] * 6), *series(150.0, load=crowded)])[-1]
    assert not disturbances([*series(*[100.0] * 6), *series(101.0, load=crowded)])[-1]
    assert not disturbances([*series(*[100.0] * 6), *series(150.0)])[-1]


def test_what_others_used_is_a_share_and_unknown_if_it_was_counted_too_shortly() -> None:
    assert others_share([replace(QUIET, others_s=0.2)] * 2) == pytest.approx(0.5)
    assert others_share([replace(QUIET, others_s=9.0)]) == 1
    assert others_share([replace(QUIET, others_s=-0.01)]) == 0
    assert others_share([replace(QUIET, elapsed_s=0.01)]) is None
    assert others_share([replace(QUIET, others_s=None)]) is None
    assert others_share([]) is None


def test_on_a_device_of_its_own_others_on_the_processors_disturb_nobody() -> None:
    crowded = Load(0.1, 4, ran_s=0.1, waited_s=0.3, others_s=0.39, matters=False)
    assert not any(disturbances(series(100.0, 150.0, 100.0, load=crowded)))


def test_where_the_system_tells_nothing_of_waiting_a_crowd_is_a_disturbance() -> None:
    assert disturbances(series(100.0, load=Load(0.1, 4, 0.3, None, 0.1))) == (True,)
    assert disturbances(series(100.0, load=Load(0.1, 4, 0.3, None, None))) == (False,)


def test_on_a_machine_that_stays_busy_the_least_disturbed_batches_count() -> None:
    hardly, much = (replace(QUIET, waited_s=waited_s, others_s=0.15) for waited_s in (0.1, 0.3))
    seen = [*series(*[180.0] * 6, load=much), *series(*[100.0] * 3), *series(*[130.0] * 3, load=hardly)]
    judged = judge(seen)
    assert judged.is_busy
    assert [batch.median_us for batch in judged.batches] == [100.0] * 3 + [130.0] * 3
    assert judged.thrown_away == 6


def test_batches_from_which_a_hypervisor_took_time_are_held_against_those_it_left_alone() -> None:
    stolen = replace(QUIET, others_s=0.15, stolen_s=0.15)
    seen = [*series(*[150.0] * 9, load=stolen), *series(*[100.0] * 6)]
    assert median_of(judge(seen).batches) == 100.0


def test_a_device_is_warm_when_its_last_batches_agree() -> None:
    assert not is_warm([100.0, 100.0])
    assert not is_warm([130.0, 110.0, 100.0])
    assert is_warm([130.0, 110.0, 101.0, 100.0, 100.0])


@given(st.lists(times, min_size=1, max_size=12))
def test_the_median_of_single_runs_is_theirs(values: list[float]) -> None:
    assert median_of(series(*values)) == median(values)


CALM = replace(QUIET, elapsed_s=1.0, ran_s=3.8)


def disturbed(seen: Sequence[Batch], earlier: Sequence[Load] = ()) -> bool:
    return is_disturbed(seen, others_meanwhile(seen, earlier))


@pytest.mark.parametrize(
    ("others_s", "stolen_s", "expected"),
    [
        (0.0, 0.0, False),
        (0.3, 0.0, False),
        (0.5, 0.0, True),
        (0.19, 0.19, False),
        (0.25, 0.25, True),
        (0.5, 0.15, False),
    ],
)
def test_a_launch_is_disturbed_as_one_of_the_corpus_is(others_s: float, stolen_s: float, expected: bool) -> None:
    """By others on more than a tenth of four processors, or by a hypervisor that gave away more than a twentieth."""
    load = replace(CALM, others_s=others_s, stolen_s=stolen_s)
    assert disturbed(series(*[100.0] * 6, load=load)) is expected
    assert not disturbed(series(*[100.0] * 6, load=replace(load, matters=False)))


def test_a_launch_whose_batches_mostly_waited_for_others_is_disturbed_and_one_of_which_they_were_repeated_is_not() -> (
    None
):
    waited = replace(QUIET, elapsed_s=0.02, waited_s=0.3, others_s=0.07)
    assert disturbed(series(*[100.0] * 6, load=waited))
    judged = judge([*series(*[100.0] * 6), *series(*[180.0] * 3, load=waited)])
    assert not disturbed(judged.batches)


def test_a_launch_that_is_too_short_to_tell_is_judged_with_those_before_it() -> None:
    short = series(*[100.0] * 2, load=replace(QUIET, elapsed_s=0.01, ran_s=0.03))
    busy = replace(CALM, others_s=1.0)
    assert not disturbed(short)
    assert disturbed(short, [CALM, busy])
    assert not disturbed(short, [busy, CALM])


def test_where_nobody_tells_of_others_nothing_is_said_to_be_disturbed() -> None:
    assert not disturbed(series(100.0, 200.0, load=None))
    assert not disturbed(series(100.0, 100.0, load=replace(CALM, waited_s=None, others_s=None)))


@given(batches)
def test_who_is_disturbed_can_be_told_of_any_batches(seen: list[Batch]) -> None:
    assert disturbed(seen, [each.load for each in seen if each.load is not None]) in (True, False)
