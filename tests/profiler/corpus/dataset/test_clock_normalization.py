"""Times are brought to the usual pace as far as they follow it, and no farther."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.dataset.clock_normalization import FARTHEST, Usual, runtime_us, slopes, usual

QUIET, SHARED = 28.0, 45.0
times = st.lists(st.tuples(st.floats(1e-2, 1e6), st.floats(10.0, 500.0)), min_size=1, max_size=8)


def _rows(slope: float, count: int = 200) -> list[tuple[list[float], list[float]]]:
    """Of launches whose times follow the pace by `slope`, and scatter by a percent."""
    draw = np.random.default_rng(7)
    found = []
    for _ in range(count):
        paces = np.where(draw.random(6) < 0.4, QUIET, SHARED) * draw.normal(1, 0.02, 6)
        batches = draw.uniform(5, 5e4) * (paces / SHARED) ** slope * draw.normal(1, 0.01, 6)
        found.append((batches.tolist(), paces.tolist()))
    return found


@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0])
def test_the_slope_of_a_device_is_found(slope: float) -> None:
    at = usual(_rows(slope))
    assert at.pace_us == pytest.approx(SHARED, rel=0.05)
    assert at.slope == pytest.approx(slope, abs=0.03)


def test_rows_measured_twice_tell_the_slope_where_paces_are_noisy() -> None:
    draw = np.random.default_rng(11)
    pairs = []
    for _ in range(200):
        time_us, true = draw.uniform(5, 5e4), np.array([[QUIET] * 6, [SHARED] * 6])[draw.permutation(2)]
        noisy = true * draw.normal(1, 0.08, (2, 6))
        first, again = (
            (list(time_us * (paces / SHARED) ** 0.8), list(seen)) for paces, seen in zip(true, noisy, strict=True)
        )
        pairs.append((first, again))
    rows = [row for pair in pairs for row in pair]
    assert usual(rows).slope < 0.2  # within a row the paces differ by their noise alone
    assert usual(rows, pairs).slope == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("slope", [0.0, 0.9])
def test_one_launch_takes_the_same_whatever_paces_it_met(slope: float) -> None:
    at = Usual(SHARED, 0.7)
    mixed = [QUIET, SHARED, QUIET, SHARED, QUIET, SHARED]
    found = [
        runtime_us([100 * (pace / SHARED) ** slope for pace in paces], paces, at)
        for paces in (mixed, mixed[:2] * 3, [SHARED] * 6)
    ]
    assert found == pytest.approx([100.0] * 3, rel=0.1)


def test_a_launch_that_met_one_pace_alone_is_taken_to_be_like_others() -> None:
    assert runtime_us([50.0] * 6, [20.0] * 6, Usual(40.0, 0.5)) == pytest.approx(50 * 2**0.5)


def test_where_paces_say_nothing_it_is_the_median() -> None:
    """A GPU does not care how fast the host is."""
    draw = np.random.default_rng(3)
    rows = [(list(draw.normal(100, 1, 6)), list(draw.uniform(30, 60, 6))) for _ in range(300)]
    at = usual(rows)
    assert at.slope < 0.02
    assert runtime_us(*rows[0], at) == pytest.approx(np.median(rows[0][0]), rel=0.02)
    assert usual([]) == Usual(1.0, 0.0)


@given(times, st.floats(0, 1.3))
def test_no_time_leaves_what_its_batches_and_paces_allow(row: list[tuple[float, float]], slope: float) -> None:
    batches, paces = (list(each) for each in zip(*row, strict=True))
    found = runtime_us(batches, paces, Usual(40.0, slope))
    assert min(batches) / 2**1.3 * 0.999 <= found <= max(batches) * 2**1.3 * 1.001


@given(st.lists(times, min_size=1, max_size=8))
def test_slopes_are_those_that_bring_times_to_the_usual_pace(rows: list[list[tuple[float, float]]]) -> None:
    at, timed = Usual(40.0, 0.7), [([b for b, _ in row], [p for _, p in row]) for row in rows]
    for (batches, paces), slope in zip(timed, slopes(timed, at), strict=True):
        relative = np.clip(np.array(paces) / at.pace_us, 1 / FARTHEST, FARTHEST)
        brought = float(np.exp(np.median(np.log(batches) - slope * np.log(relative))))
        assert runtime_us(batches, paces, at) == pytest.approx(brought, rel=1e-6)
