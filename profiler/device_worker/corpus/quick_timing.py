"""Times a launch in some 20 ms: many rows that are known to a few percent are worth more than few that are known well.

Launches below a millisecond run in batches, the very short ones in trains, as `profiler.device_worker.timing` runs
them. Of longer launches each run is a batch. The batches of several launches take turns: what slows a processor down
for some tenths of a second then affects a part of each launch's batches, and not all of one launch's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from profiler.device_worker.timing import AWAKE_S, SINGLES, TRAIN, TRAIN_US, Subject, rouse, run_us
from profiler.measurement import MeasureError

SHORT_US = 1_000.0
BATCHES = 6
BATCH_S = 0.002
MOST_RUNS = 200  # in a batch
LEAST_RUNS = 2
OVERTIME = 2.0  # times what a batch should take, after which it ends with fewer runs
LONG_RUNS = ((5_000.0, 4), (30_000.0, 3))  # below so many us so many runs
LEAST_LONG_RUNS = 2
LEAST_ROUSED_US = 50.0  # shorter launches move too little to depend on how fast memory is clocked
SURELY_LONG_US = 40_000.0  # such a launch's first run counts: that its caches were cold makes no difference


@dataclass(frozen=True, slots=True)
class QuickBatch:
    """A train counts as one run, by its mean. `walls_us` are of launches by themselves. `pace_us` as of `Pace`."""

    runs_us: tuple[float, ...]
    walls_us: tuple[float, ...]
    pace_us: float

    @property
    def median_us(self) -> float:
        return median(self.runs_us)


@dataclass(frozen=True, slots=True)
class Timetable:
    """How a launch of about `estimate_us` is timed: what a first look has `seen` counts, and so many `batches` follow.

    Of a short launch each takes some 2 ms, in runs of `train` launches queued one behind the other.
    """

    estimate_us: float
    batches: int
    train: int = 1
    seen: tuple[QuickBatch, ...] = ()

    @property
    def is_long(self) -> bool:
        return self.estimate_us >= SHORT_US

    @property
    def longest_s(self) -> float:
        """What all batches take at the most, if nothing goes wrong."""
        return self.batches * (OVERTIME * BATCH_S + AWAKE_S + (2 + LEAST_RUNS) * self.estimate_us / 1e6)


PaceUs = Callable[[], float]


def first_run(subject: Subject, pace_us: PaceUs) -> QuickBatch:
    """Of a launch that has never run: whatever the driver still has to load for it is in the wall clock's time alone.

    Raises MeasureError without profiling times.
    """
    subject.restore(1)
    return _between(pace_us, lambda: ([run_us(subject.enqueue, 1)], []))


def timetable(subject: Subject, first: QuickBatch, pace_us: PaceUs) -> Timetable:
    """For a launch that has just run for the first time."""
    if first.median_us >= SURELY_LONG_US:
        return Timetable(first.median_us, LEAST_LONG_RUNS - 1, seen=(first,))
    look = _between(pace_us, lambda: _long(subject, first.median_us))
    estimate_us = min(first.median_us, look.median_us)
    if estimate_us < 2 * SHORT_US:  # it was cold, or others disturbed it
        estimate_us = min(estimate_us, _alone(subject)[0])
    if estimate_us < SHORT_US:
        train = TRAIN if estimate_us < TRAIN_US else 1
        return Timetable(estimate_us, BATCHES, min(train, subject.longest_train or train))
    runs = next((count for below_us, count in LONG_RUNS if estimate_us < below_us), LEAST_LONG_RUNS)
    return Timetable(estimate_us, runs - 1, seen=(look,))


def time_batch(subject: Subject, table: Timetable, pace_us: PaceUs) -> QuickBatch:
    """Return the next of the batches that `table` plans."""
    return _between(pace_us, lambda: _long(subject, table.estimate_us) if table.is_long else _short(subject, table))


def _between(pace_us: PaceUs, times_us: Callable[[], tuple[list[float], list[float]]]) -> QuickBatch:
    before_us = pace_us()
    runs_us, walls_us = times_us()
    return QuickBatch(tuple(runs_us), tuple(walls_us), (before_us + pace_us()) / 2)


def _short(subject: Subject, table: Timetable) -> tuple[list[float], list[float]]:
    """Return the times of runs, and of launches by the wall clock [us]."""
    subject.begin_batch()
    if table.estimate_us >= LEAST_ROUSED_US:
        rouse(subject)
    else:
        _alone(subject)  # what ran since the last batch, and another place, have left the caches cold
    train = table.train
    runs_us: list[float] = []
    walls_us: list[float] = []
    began = time.perf_counter()
    while len(runs_us) < MOST_RUNS:
        spent_s = time.perf_counter() - began
        if spent_s > OVERTIME * BATCH_S or (spent_s > BATCH_S and len(runs_us) >= LEAST_RUNS):
            break
        if train > 1:
            runs_us.append(run_us(subject.enqueue, train))
            continue
        event_us, wall_us = _alone(subject)
        runs_us.append(event_us)
        walls_us.append(wall_us)
    walls_us += [_alone(subject)[1] for _ in range(SINGLES if train > 1 else 0)]
    return runs_us, walls_us


def _long(subject: Subject, estimate_us: float) -> tuple[list[float], list[float]]:
    """Of a launch that is short enough for a pause to show, after others of the same."""
    subject.begin_batch()
    if LEAST_ROUSED_US <= estimate_us < 1e6 * AWAKE_S:
        rouse(subject)
    event_us, wall_us = _alone(subject)
    return [event_us], [wall_us]


def _alone(subject: Subject) -> tuple[float, float]:
    """Return one launch by its event, and by the wall clock from before it is queued to after its end [us]."""
    subject.restore(1)
    began = time.perf_counter()
    event = subject.enqueue()
    event.wait()
    wall_us = (time.perf_counter() - began) * 1e6
    event_us = (event.profile.end - event.profile.start) / 1000
    if event_us <= 0:
        raise MeasureError("this device's driver reports no profiling times")
    return event_us, wall_us
