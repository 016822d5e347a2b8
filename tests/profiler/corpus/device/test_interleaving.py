"""Batches of several launches: each as often as it should be, and none of them all at once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from profiler.device_worker.corpus.time_job import turns


def test_launches_take_turns() -> None:
    assert list(turns([3, 1, 3])) == [0, 2, 0, 1, 2, 0, 2]
    assert list(turns([1, 1, 1, 1, 6])) == [4, 4, 4, 0, 1, 2, 3, 4, 4, 4]
    assert list(turns([])) == []
    assert list(turns([2, 0])) == [0, 0]


@given(st.lists(st.integers(0, 9), max_size=40))
def test_each_has_as_many_as_it_is_due_and_nearly_as_many_in_each_half(batches: list[int]) -> None:
    order = list(turns(batches))
    assert Counter(order) == Counter({place: count for place, count in enumerate(batches) if count})
    half = Counter(order[: len(order) // 2])
    assert all(abs(half[place] - count / 2) <= 1.5 for place, count in enumerate(batches))
