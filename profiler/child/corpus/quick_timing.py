"""Times a launch in some 20 ms: many rows that are known to a few percent are worth more than few that are known well.

Launches below a millisecond run in batches with pauses between them, the very short ones in trains, as
`profiler.child.timing` runs them. Of longer launches each run is a batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

from profiler.child.timing import SINGLES, TRAIN, TRAIN_US, Subject, run_us
from profiler.measurement import MeasureError

SHORT_US = 1_000.0
BATCHES = 4
BATCH_S = 0.003
MOST_RUNS = 200  # in a batch
LEAST_RUNS = 3
PAUSE_S = 0.001  # between batches, so that one disturbance cannot hit all of them
OVERTIME = 2.0  # times what a batch should take, after which it ends with fewer runs
LONG_RUNS = ((5_000.0, 4), (30_000.0, 3), (150_000.0, 2))  # below so many us so many runs; one above


@dataclass(frozen=True, slots=True)
class QuickBatch:
    """A train counts as one run, by its mean. `walls_us` are of launches by themselves."""

    runs_us: tuple[float, ...]
    walls_us: tuple[float, ...]

    @property
    def median_us(self) -> float:
        return median(self.runs_us)


def time_quickly(subject: Subject, first_us: float) -> tuple[QuickBatch, ...]:
    """`subject` has run once before, which took `first_us` by its event. Raises MeasureError without profiling times.

    Takes about 15 ms for launches below 1 ms, then some runs: see `LONG_RUNS`.
    """
    seen = (_long(subject),)
    estimate_us = min(first_us, seen[0].median_us)
    if estimate_us < 2 * SHORT_US:  # it was cold, or others disturbed it
        estimate_us = min(estimate_us, _alone(subject)[0])
    if estimate_us < SHORT_US:
        return _short(subject, estimate_us)
    runs = next((count for below_us, count in LONG_RUNS if estimate_us < below_us), 1)
    return (*seen, *(_long(subject) for _ in range(runs - 1)))


def _short(subject: Subject, estimate_us: float) -> tuple[QuickBatch, ...]:
    train = TRAIN if estimate_us < TRAIN_US else 1
    train = min(train, subject.longest_train or train)
    batches = []
    for number in range(BATCHES):
        if number:
            time.sleep(PAUSE_S)
        batches.append(_batch(subject, train))
    return tuple(batches)


def _batch(subject: Subject, train: int) -> QuickBatch:
    subject.begin_batch()
    _alone(subject)  # the pause, and another place, have left the caches cold
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
    return QuickBatch(tuple(runs_us), tuple(walls_us))


def _long(subject: Subject) -> QuickBatch:
    subject.begin_batch()
    event_us, wall_us = _alone(subject)
    return QuickBatch((event_us,), (wall_us,))


def _alone(subject: Subject) -> tuple[float, float]:
    """One launch by its event, and by the wall clock from before it is queued to after its end [us]."""
    subject.restore(1)
    began = time.perf_counter()
    event = subject.enqueue()
    event.wait()
    wall_us = (time.perf_counter() - began) * 1e6
    event_us = (event.profile.end - event.profile.start) / 1000
    if event_us <= 0:
        raise MeasureError("this device's driver reports no profiling times")
    return event_us, wall_us
