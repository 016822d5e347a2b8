"""What a user is told about a measurement besides its figures."""

from __future__ import annotations

from dataclasses import replace

from profiler.measurement import Measurement
from profiler.warnings import Circumstances, remarks
from tests.profiler.test_store import measurement

PLAIN = Circumstances()


def one(seen: Circumstances = PLAIN, /, **changes: object) -> str:
    measured: Measurement = replace(measurement(), **changes)  # type: ignore[arg-type]
    (remark,) = remarks(measured, seen)
    return remark


def test_of_an_ordinary_measurement_there_is_nothing_to_say() -> None:
    assert remarks(replace(measurement(), wall_us=12.0, other_load_percent=3.0, outliers=1), PLAIN) == ()


def test_a_busy_machine_is_named_with_what_others_used() -> None:
    remark = one(Circumstances(is_busy=True), other_load_percent=63.0, settled=False)
    assert remark.startswith("the machine was busy (others used 63 % of its processors)")
    assert "measure again" in remark
    assert "others used it" in one(Circumstances(is_busy=True))
    assert "4 disturbed batches were repeated" in one(other_load_percent=30.0, disturbed_batches=4)
    assert "1 disturbed batch was repeated" in one(other_load_percent=30.0, disturbed_batches=1)
    assert "disturbed" not in one(other_load_percent=30.0)


def test_buffers_that_were_not_put_back_are_named() -> None:
    assert "`a`, `b` could not be put back" in one(Circumstances(is_restored=False, changed=("a", "b")))


def test_drift_outliers_and_a_spent_budget_are_told() -> None:
    assert "drift upwards, by 5 %" in one(drift_percent=5.2)
    assert "drift downwards, by 3 %" in one(drift_percent=-3.0)
    assert "5 of 20 runs lie far off the others, the longest took 4.0 times" in one(
        Circumstances(longest_us=40.0), outliers=5
    )
    assert remarks(replace(measurement(), outliers=1, repeats=4), Circumstances(longest_us=40.0)) == ()
    assert remarks(replace(measurement(), outliers=5), Circumstances(longest_us=10.5)) == ()
    assert "the budget was spent" in one(settled=False)
    assert remarks(replace(measurement(), settled=False), Circumstances(has_exact_repeats=True)) == ()


def test_a_clock_that_runs_faster_than_the_wall_is_not_trusted() -> None:
    assert "says 10 us where 2 us passed" in one(wall_us=2.0)
