"""A version that is slower beyond its noise takes no more turns; what is compared with it does."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from profiler.batches import Batch
from profiler.turns import Ratio, Stopping, is_all_known, ratio_of, slower


def batches(*times_us: float) -> list[Batch]:
    return [Batch((time,)) for time in times_us]


def test_a_version_is_out_once_its_interval_lies_above_the_best_ones() -> None:
    seen = {0: batches(10, 11, 12), 1: batches(8, 9, 10), 2: batches(10.5, 11, 12), 3: batches(9.5, 11, 12)}
    assert slower(seen, Stopping(always=frozenset())) == {2}
    assert slower({**seen, 2: batches(10.5, 11)}, Stopping()) == set()  # not yet


def test_one_turn_is_enough_for_what_takes_more_than_twice_as_long() -> None:
    assert slower({0: batches(10), 1: batches(21), 2: batches(19)}, Stopping()) == {1}


def test_what_others_are_compared_with_stays_and_so_does_everything_if_told_so() -> None:
    seen = {0: batches(50, 50, 50), 1: batches(10, 10, 10), 2: batches(50, 50, 50)}
    assert slower(seen, Stopping()) == {2}
    assert slower(seen, Stopping(drops_slower=False)) == set()


def test_the_best_is_never_out() -> None:
    assert slower({3: batches(10, 10, 10)}, Stopping(always=frozenset())) == set()


def test_turns_end_when_all_medians_are_known() -> None:
    assert is_all_known({0: batches(*[10.0] * 8), 1: batches(*[20.0] * 8)})
    assert not is_all_known({0: batches(*[10.0] * 8), 1: batches(20, 20)})


def test_a_slowdown_that_hits_both_leaves_their_ratio_alone() -> None:
    base = [10.0, 10.0, 30.0, 10.0, 10.0, 30.0, 10.0]
    found = ratio_of([time / 2 for time in base], base)
    assert found is not None
    assert abs(found.ratio - 0.5) < 1e-9
    assert found.is_faster
    assert not found.is_slower


def test_without_a_common_turn_there_is_no_ratio() -> None:
    assert ratio_of([], [1.0]) is None


Times = st.lists(st.floats(0.1, 1e6), min_size=1, max_size=30)


@given(Times, Times)
def test_a_ratio_lies_in_its_interval_and_the_same_turns_give_the_same_one(
    one: Sequence[float], other: Sequence[float]
) -> None:
    found = ratio_of(one, other)
    assert isinstance(found, Ratio)
    assert found.low <= found.ratio <= found.high
    assert ratio_of(one, other) == found
