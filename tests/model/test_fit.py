"""The line through measured launches: what it must hold whatever was measured."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.fit import MAX_POINTS, Fit, Point, fit

FLOOR_US = 5.0
times = st.floats(min_value=0.5, max_value=1e7)
works = st.floats(min_value=0.01, max_value=1e7)
points = st.lists(
    st.builds(Point, work_us=works, measured_us=times, noise=st.floats(min_value=0, max_value=0.5)),
    min_size=1,
    max_size=6,
)


def line(*measured: Point, floor_us: float = FLOOR_US) -> Fit:
    found = fit(measured, floor_us)
    assert found is not None
    return found


def on_a_line(overhead_us: float, factor: float, *work: float) -> list[Point]:
    return [Point(w, overhead_us + factor * w) for w in work]


def test_nothing_measured_is_no_line() -> None:
    assert fit([], FLOOR_US) is None
    assert fit([Point(1.0, 0.0), Point(math.inf, 3.0)], FLOOR_US) is None


@given(
    st.floats(min_value=0, max_value=100),
    st.floats(min_value=0.1, max_value=20),
    st.floats(min_value=300, max_value=1e4),
    st.lists(st.floats(min_value=1.5, max_value=8), min_size=3, max_size=5),
)
def test_launches_that_lie_on_a_line_are_found_to(
    overhead: float, factor: float, first: float, steps: list[float]
) -> None:
    work = [first]
    for step in steps:
        work.append(work[-1] * step)
    found = line(*on_a_line(overhead, factor, *work))
    between = math.sqrt(work[0] * work[-1])
    assert found.runtime_us(between) == pytest.approx(overhead + factor * between, rel=0.08)
    assert found.median_error < 0.08


def test_an_overhead_beyond_the_floor_is_seen_where_the_points_show_it() -> None:
    found = line(*on_a_line(400, 2, 10, 100, 1000))
    assert found.overhead_us == pytest.approx(400)
    assert found.factor == pytest.approx(2)


def test_one_point_gives_the_factor_above_the_launch_floor() -> None:
    found = line(Point(100, 305))
    assert found.overhead_us == FLOOR_US
    assert found.factor == pytest.approx(3)
    assert found.runtime_us(200) == pytest.approx(605)


def test_two_points_are_both_met() -> None:
    a, b = Point(100, 250), Point(1000, 1600)
    found = line(a, b)
    assert abs(found.error(a)) < 0.05
    assert abs(found.error(b)) < 0.05


def test_one_wild_measurement_does_not_bend_the_line() -> None:
    honest = on_a_line(5, 2, 100, 200, 400, 800)
    found = line(*honest, Point(300, 60_000))
    assert found.runtime_us(1600) == pytest.approx(3205, rel=0.05)


def test_equal_sizes_are_one_size_measured_often() -> None:
    found = line(Point(100, 200), Point(100, 210), Point(100, 190))
    assert found.overhead_us == FLOOR_US
    assert found.runtime_us(100) == pytest.approx(200)
    assert found.spread(100) > line(*on_a_line(5, 2, 50, 100, 200)).spread(100)


def test_launches_that_are_all_overhead_say_nothing_of_the_work() -> None:
    """Their differences are noise: a slope drawn through them would be off by any factor."""
    found = line(Point(0.01, 5.1, 0.02), Point(0.02, 5.4, 0.02))
    assert found.runtime_us(1000) == pytest.approx(1005, rel=0.1)
    assert found.spread(1000) > 2
    assert found.spread(0.02) < 1.5


@given(points, works, works)
def test_more_work_never_takes_less_time(measured: list[Point], one: float, other: float) -> None:
    found = line(*measured)
    less, more = sorted((one, other))
    assert found.runtime_us(less) <= found.runtime_us(more)
    assert found.overhead_us >= 0
    assert found.factor > 0


@given(points, st.floats(min_value=1, max_value=1e5))
def test_the_interval_never_narrows_beyond_the_measured_sizes(measured: list[Point], beyond: float) -> None:
    found = line(*measured)
    most = max(p.work_us for p in measured)
    assert found.spread(most * beyond) >= found.spread(most) - 1e-9
    assert found.spread(most) >= 1


@given(points, st.floats(min_value=0, max_value=1e4))
def test_any_measurements_give_a_finite_answer(measured: list[Point], floor_us: float) -> None:
    found = line(*measured, floor_us=floor_us)
    for work_us in (0.0, 1.0, 1e9):
        assert math.isfinite(found.runtime_us(work_us))
        assert math.isfinite(found.spread(work_us))


def test_points_that_scatter_widen_the_interval() -> None:
    steady = line(*on_a_line(5, 2, 100, 200, 400, 800))
    scattered = line(Point(100, 205), Point(200, 700), Point(400, 500), Point(800, 3000))
    assert scattered.spread(400) > steady.spread(400)


def test_many_points_cost_no_more_than_a_few_dozen() -> None:
    found = line(*on_a_line(5, 2, *range(10, 2000)))
    assert len(found.points) == MAX_POINTS


def test_work_that_is_nothing_takes_the_overhead() -> None:
    found = line(Point(0.0, 7.0))
    assert found.runtime_us(0.0) == pytest.approx(7.0)
