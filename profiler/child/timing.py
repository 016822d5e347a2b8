"""Times one launch by profiling events, in batches with pauses between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import pyopencl as cl

from profiler.measurement import MeasureError
from profiler.statistics import median_interval

MIN_BATCHES = 6  # fewer cannot give a 95 % interval of the median
MAX_BATCHES = 200
BATCH_S = 0.1  # what a batch should take, for launches shorter than that
MAX_LAUNCHES = 64  # in a batch: kernels that work in place drift towards denormals, which are slow
MAX_RUNS = 20
TRAIN_US = 20.0  # shorter launches are queued up in trains: the clock's steps and the waking of threads weigh less
TRAIN = 16
PAUSE_S = 0.02  # between batches, so that one disturbance cannot hit all of them
ENOUGH = 0.03  # half the interval, as a share of the median, at which measuring may stop

Enqueue = Callable[[], cl.Event]


@dataclass(frozen=True, slots=True)
class Timing:
    """`batches_us` holds the times of each batch's runs; a train counts as one run, by its mean."""

    batches_us: tuple[tuple[float, ...], ...]

    @property
    def runs_us(self) -> list[float]:
        return [run for batch in self.batches_us for run in batch]

    @property
    def medians_us(self) -> list[float]:
        return [median(batch) for batch in self.batches_us]

    def interval_us(self) -> tuple[float, float]:
        """95 % interval of the median, from the batches' medians: runs within a batch are not independent."""
        low, high = median_interval(self.medians_us)
        middle = median(self.runs_us)
        return min(low, middle), max(high, middle)

    def is_settled(self) -> bool:
        low, high = self.interval_us()
        return len(self.batches_us) >= MIN_BATCHES and (high - low) / 2 <= ENOUGH * median(self.runs_us)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure: for at most `budget_s`, or exactly `repeats` runs."""

    budget_s: float
    repeats: int | None = None
    batch_s: float = BATCH_S
    pause_s: float = PAUSE_S


def time_launch(
    enqueue: Enqueue,
    queue: cl.CommandQueue,
    plan: Plan,
    *,
    reset: Callable[[], None],
    on_batch: Callable[[float], None],
) -> Timing:
    """Run `enqueue` until the median is known well enough. `reset` puts buffers back before each batch;
    `on_batch` hears the share of the budget spent. The kernel must have run before (it is compiled then)."""
    estimate_us = run_us(enqueue, 1)
    train = TRAIN if estimate_us < TRAIN_US and plan.repeats is None else 1
    most = min(MAX_RUNS, MAX_LAUNCHES // train)
    runs = max(1, min(most, int(plan.batch_s * 1e6 / max(1.0, estimate_us * train))))
    if plan.repeats is not None:
        runs = max(1, min(runs, -(-plan.repeats // MIN_BATCHES)))
    began = time.monotonic()
    batches: list[tuple[float, ...]] = []
    done = 0
    while True:
        left = runs if plan.repeats is None else min(runs, plan.repeats - done)
        reset()
        if estimate_us < plan.batch_s * 1e6:
            run_us(enqueue, 1)  # the reset and the pause have cooled the caches
        batches.append(tuple(run_us(enqueue, train) for _ in range(left)))
        done += left
        spent_s = time.monotonic() - began
        timing = Timing(tuple(batches))
        if plan.repeats is not None:
            on_batch(done / plan.repeats)
            if done >= plan.repeats:
                return timing
        else:
            on_batch(min(1.0, max(spent_s / plan.budget_s, len(batches) / MAX_BATCHES)))
            # Another batch takes as long as the mean of those before it.
            over_budget = spent_s * (1 + 1 / len(batches)) > plan.budget_s
            if over_budget or timing.is_settled() or len(batches) >= MAX_BATCHES:
                return timing
        queue.finish()
        time.sleep(plan.pause_s)


def run_us(enqueue: Enqueue, train: int) -> float:
    """Mean time on the device of `train` launches queued one behind the other [us]."""
    events = [enqueue() for _ in range(train)]
    cl.wait_for_events(events)
    durations = [(event.profile.end - event.profile.start) / 1000 for event in events]
    if any(duration <= 0 for duration in durations):
        raise MeasureError("this device's driver reports no profiling times")
    return sum(durations) / train
