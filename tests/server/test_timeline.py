"""A history says what changed from one measurement to the next, and whether the kernel became faster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.measurement import Measurement
from profiler.store import StoredMeasurement
from server.text.timeline import sparkline, timelines

FIRST = Measurement(
    kernel="scale", kernel_fingerprint="f", launch_key="l", launch="64 / 8", device_id="pocl", device_name="A CPU",
    driver="3.1", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.9, 10.1), repeats=20, batches=6,
    batch_spread_percent=1.5, local_size=(8,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
)  # fmt: skip


def took(median_us: float, **changed: Any) -> StoredMeasurement:
    interval = (median_us * 0.99, median_us * 1.01)
    return StoredMeasurement(
        replace(FIRST, median_us=median_us, ci95_us=interval, **changed), 20.0, "/home/me/k.cl::scale"
    )


def changes(*kept: StoredMeasurement) -> list[str]:
    (timeline,) = timelines(kept)
    return [", ".join(moment.changes) for moment in timeline.moments]


def test_an_edit_of_the_kernel_is_said_with_what_it_brought() -> None:
    told = changes(took(10), took(10), took(8, kernel_fingerprint="g"), took(10, kernel_fingerprint="f"))
    assert told == ["", "", "kernel edited, 20 % faster", "an earlier version again, 25 % slower"]


def test_intervals_that_overlap_are_no_change() -> None:
    assert changes(took(10), took(10.15), took(9.99)) == ["", "", ""]


def test_drivers_options_and_arguments_are_named_when_they_differ() -> None:
    told = changes(
        took(10), took(10, driver="4.0"), took(10, launch_key="m"), took(10, launch_key="n", options="-DN=1")
    )
    assert told == ["", "other driver", "other driver, other arguments", "other build options"]


def test_another_size_is_not_compared_but_its_own_past_is() -> None:
    assert changes(took(10), took(99, launch="640 / 8", launch_key="m"), took(20)) == ["", "", "100 % slower"]


def test_kernels_and_devices_have_timelines_of_their_own() -> None:
    other = replace(took(5), kernel_id="/home/me/other.cl::scale")
    found = timelines([took(10), other, took(7, device_id="gpu"), took(11)])
    assert [(each.kernel_id, each.device_id, len(each.moments)) for each in found] == [
        ("/home/me/k.cl::scale", "pocl", 2),
        ("/home/me/other.cl::scale", "pocl", 1),
        ("/home/me/k.cl::scale", "gpu", 1),
    ]
    (trend,) = found[0].trends()
    assert trend.medians_us == (10, 11)
    assert trend.change_percent == pytest.approx(10)


def test_a_sparkline_rises_where_times_do() -> None:
    assert sparkline([1, 10, 100]) == "▁▄█" or sparkline([1, 10, 100]) == "▁▅█"
    assert sparkline([100, 1]) == "█▁"
    assert sparkline([10, 10.01]) == "▅▅"


@given(st.lists(st.floats(0, 1e15), min_size=1))
def test_a_sparkline_has_one_bar_for_each_value(values: list[float]) -> None:
    assert len(sparkline(values)) == len(values)
