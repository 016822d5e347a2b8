"""Launches that do nearly the same work are one kind of launch; others are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.launch.clusters import Cluster, clustered
from model.launch.recorded import RecordedLaunch
from tests.recordings import recorded


def kinds(*launches: RecordedLaunch, free: tuple[str, ...] = ()) -> tuple[Cluster, ...]:
    """Clusters of launches of which only the arguments in `free` say nothing about their work."""
    return clustered(launches, lambda name: name not in free)


def test_lengths_within_a_tenth_are_one_kind() -> None:
    (kind,) = kinds(*(recorded("k", 1024, 64, values={"x": length}, count=2) for length in (1000, 1050, 1100)))
    assert (kind.count, kind.distinct) == (6, 3)


def test_longer_buffers_are_another_kind() -> None:
    assert len(kinds(*(recorded("k", 1024, 64, values={"x": length}) for length in (1000, 1200)))) == 2


def test_other_sizes_groups_and_build_options_are_other_kinds() -> None:
    plain = recorded("k", 1024, 64)
    others = (recorded("k", 1025, 64), recorded("k", 1024, 32), recorded("k", 1024), recorded("k", (1024, 1), (64, 1)))
    assert all(len(kinds(plain, other)) == 2 for other in (*others, recorded("k", 1024, 64, defines={"TILE": "8"})))


def test_contents_of_another_kind_are_another_kind() -> None:
    first = recorded("k", 1024, fills={"x": "randint:0:8"})
    assert len(kinds(first, recorded("k", 1024, fills={"x": "randint:0:9"}))) == 1
    assert len(kinds(first, recorded("k", 1024, fills={"x": "zeros"}))) == 2


def test_arguments_that_do_not_change_the_work_may_differ() -> None:
    steps = [recorded("k", 1024, values={"step": step, "n": 7}) for step in range(100)]
    (kind,) = kinds(*steps, free=("step",))
    assert kind.count == kind.distinct == 100
    assert kind.middle is steps[49]
    assert len(kinds(*steps[:30])) > 10


def test_a_change_of_sign_is_a_change() -> None:
    assert len(kinds(recorded("k", 64, values={"n": -1}), recorded("k", 64, values={"n": 1}))) == 2
    assert len(kinds(recorded("k", 64, values={"n": 0}), recorded("k", 64, values={"n": 1}))) == 2


def test_the_kind_with_most_time_is_first_and_an_untimed_one_by_its_count() -> None:
    long, short = recorded("k", 4096, count=2, event_us=1000.0), recorded("k", 64, count=100, event_us=5.0)
    assert [kind.middle for kind in kinds(short, long)] == [long, short]
    often, seldom = recorded("k", 64, count=9), recorded("k", 4096, count=3)
    assert [kind.middle for kind in kinds(seldom, often)] == [often, seldom]


def test_the_median_of_all_launches_is_the_time_of_a_kind() -> None:
    (kind,) = kinds(*(recorded("k", 64, count=n, event_us=t) for n, t in ((1, 50.0), (9, 10.0), (1, 12.0))))
    assert kind.event_us == 10.0
    assert kind.total_us == 152.0


def test_launches_without_a_time_count_as_those_beside_them() -> None:
    (kind,) = kinds(recorded("k", 64, count=3, event_us=10.0), recorded("k", 64, values={}, count=1))
    assert (kind.count, kind.total_us) == (4, 40.0)


@given(
    st.lists(
        st.tuples(st.sampled_from([64, 128]), st.integers(1, 10**6), st.integers(1, 50), st.none() | st.floats(1, 1e6)),
        min_size=1,
        max_size=30,
    )
)
def test_no_launch_is_lost(made: list[tuple[int, int, int, float | None]]) -> None:
    launches = [recorded("k", size, values={"x": length}, count=count, event_us=us) for size, length, count, us in made]
    found = kinds(*launches)
    assert sum(kind.count for kind in found) == sum(count for _, _, count, _ in made)
    assert sum(kind.distinct for kind in found) == len(made)
    assert all(kind.middle in launches for kind in found)
