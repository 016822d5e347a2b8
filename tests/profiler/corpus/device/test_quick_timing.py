"""How a launch is timed, by a launch that takes as long as it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from profiler.device_worker.corpus.quick_timing import BATCHES, QuickBatch, first_run, time_batch, timetable
from profiler.device_worker.timing import TRAIN
from profiler.measurement import MeasureError


@dataclass
class Launch:
    """`times_us` follow one another, the last for ever. Its events are what they would be; nothing waits."""

    times_us: list[float]
    longest_train: int | None = None
    log: list[str] = field(default_factory=list)

    def begin_batch(self) -> None:
        self.log.append("batch")

    def restore(self, _launches: int) -> None:
        self.log.append("restore")

    def enqueue(self) -> Any:
        self.log.append("run")
        time_us = self.times_us.pop(0) if len(self.times_us) > 1 else self.times_us[0]
        return SimpleNamespace(profile=SimpleNamespace(start=1000, end=1000 + time_us * 1000), wait=lambda: None)


@pytest.fixture(autouse=True)
def _nothing_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profiler.device_worker.timing.cl.wait_for_events", lambda _events: None)


def _time(launch: Launch, first_us: float, pace_us: float = 40.0) -> list[QuickBatch]:
    """All batches of a launch that nothing takes turns with."""
    table = timetable(launch, QuickBatch((first_us,), (), pace_us), lambda: pace_us)
    return [*table.seen, *(time_batch(launch, table, lambda: pace_us) for _ in range(table.batches))]


def test_short_launches_run_in_batches() -> None:
    launch = Launch([300.0])
    batches = _time(launch, 300.0)
    assert len(batches) == BATCHES <= launch.log.count("batch")
    assert all(batch.median_us == pytest.approx(300.0) for batch in batches)


def test_very_short_launches_run_in_trains_and_alone_for_the_wall_clock() -> None:
    launch = Launch([3.0])
    batches = _time(launch, 3.0)
    assert all(batch.runs_us and batch.walls_us for batch in batches)
    assert launch.log.count("run") >= TRAIN * sum(len(batch.runs_us) for batch in batches)


def test_what_must_be_put_back_is_put_back_before_each_launch() -> None:
    launch = Launch([3.0], longest_train=1)
    _time(launch, 3.0)
    runs = [before for before, what in zip(launch.log, launch.log[1:], strict=False) if what == "run"]
    assert set(runs) == {"restore"}


@pytest.mark.parametrize(
    ("time_us", "runs"), [(4_000.0, 4), (20_000.0, 3), (60_000.0, 2), (200_000.0, 2), (900_000.0, 2)]
)
def test_long_launches_run_a_few_times(time_us: float, runs: int) -> None:
    assert [batch.runs_us for batch in _time(Launch([time_us]), time_us)] == [(time_us,)] * runs


def test_a_slow_first_run_does_not_make_a_long_launch() -> None:
    batches = _time(Launch([30_000.0 / 100, 40.0]), 30_000.0)
    assert len(batches) == BATCHES
    assert all(len(batch.runs_us) >= 2 for batch in batches)


@pytest.mark.parametrize("time_us", [30.0, 30_000.0])
def test_each_batch_knows_the_pace_on_either_side_of_it(time_us: float) -> None:
    launch, paces = Launch([time_us]), iter(range(1000))
    table = timetable(launch, QuickBatch((time_us,), (), 40.0), lambda: float(next(paces)))
    batch = time_batch(launch, table, lambda: float(next(paces)))
    assert batch.pace_us == 2.5  # between the third and the fourth reading; the first look took two


def test_drivers_without_times_are_named() -> None:
    with pytest.raises(MeasureError, match="no profiling times"):
        _time(Launch([0.0]), 1.0)


def test_the_first_run_of_a_very_long_launch_counts() -> None:
    launch = Launch([300_000.0])
    first = first_run(launch, lambda: 40.0)
    table = timetable(launch, first, lambda: 40.0)
    assert (table.seen, table.batches, launch.log.count("run")) == ((first,), 1, 1)


@pytest.mark.parametrize("time_us", [300.0, 4_000.0])
def test_what_moves_much_memory_runs_for_a_while_before_it_counts(time_us: float) -> None:
    launch = Launch([time_us])
    table = timetable(launch, QuickBatch((time_us,), (), 40.0), lambda: 40.0)
    launch.log.clear()
    batch = time_batch(launch, table, lambda: 40.0)
    assert launch.log.count("run") > 2 * len(batch.runs_us)  # nothing waits here, so that 10 ms are many launches
