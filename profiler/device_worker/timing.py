"""Times one launch by profiling events and by the wall clock, in batches with pauses between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, gcd
from statistics import median
from typing import Protocol

import pyopencl as cl

from profiler.batches import MIN_BATCHES, Batch, Judged, Load, disturbances, is_enough, is_warm, judge
from profiler.measurement import MeasureError

MAX_BATCHES = 200
MAX_RUNS = 200  # in a batch
BATCH_S = 0.1  # what a batch should take, for launches shorter than that; the system counts load in steps of 10 ms
TRAIN_US = 20.0  # shorter launches are queued up in trains: the waking of threads weighs less
TRAIN = 16
LONGEST_TRAIN = 64
STEP_SHARE = 0.01  # of a launch's time; with coarser steps of the event clock it runs in trains, too
SINGLES = 3  # launches by themselves in each batch of trains, for the wall clock
PAUSE_S = 0.02  # between batches, so that one disturbance cannot hit all of them
LONGEST_PAUSE_S = 0.1  # after disturbed batches: whatever it is may be over then
PAUSE_SHARE = 0.05  # of the budget, at most
BATCH_SHARE = 0.08  # of the budget, at most: there must be room for enough batches
OVERTIME = 2.0  # times what a batch should take, after which it ends with fewer runs
WARM_UP_SHARE = 0.2  # of the budget, at most
WARM_UP_BATCH_S = 0.02
# After a pause, processors clock their caches and memory up again only while these are used: of the first launches of
# a stream over 32 MB on a server, each took two to four times as long as the tenth. Measured on a Sapphire Rapids.
AWAKE_S = 0.01
COARSEST_US = 100.0  # no event clock has coarser steps
STEP_RUNS = 8  # launches whose time stamps tell the event clock's steps


class Subject(Protocol):
    """A launch that can be repeated."""

    @property
    def longest_train(self) -> int | None:
        """How many launches may follow one another before `restore`; None: any number."""

    def begin_batch(self) -> None: ...
    def restore(self, launches: int) -> None: ...
    def enqueue(self) -> cl.Event: ...


class Watch(Protocol):
    """Whoever tells what others did meanwhile."""

    def begin(self) -> None: ...
    def end(self) -> Load: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure: for at most `budget_s`, or exactly `repeats` runs."""

    budget_s: float
    repeats: int | None = None
    batch_s: float = BATCH_S
    pause_s: float = PAUSE_S


@dataclass(frozen=True, slots=True)
class Timing:
    """Everything that was seen, and the batches that count. `step_us` is the event clock's, 0 where it shows none."""

    seen: tuple[Batch, ...]
    judged: Judged
    step_us: float
    train: int

    @property
    def batches(self) -> tuple[Batch, ...]:
        return self.judged.batches


@dataclass(frozen=True, slots=True)
class _Shape:
    """Of a batch: `runs` trains of `train` launches each, or fewer if they take longer than `longest_s`."""

    runs: int
    train: int
    longest_s: float = float("inf")


def time_launch(
    subject: Subject,
    plan: Plan,
    *,
    first_us: float,
    watch: Watch | None,
    on_batch: Callable[[float], None],
    resolution_us: float = 0.0,
) -> Timing:
    """Run `subject` until its median is known well enough, or the budget is spent.

    It must have run before: `first_us` is what that took by its event. `resolution_us` is what the driver says of its
    clock.

    Batches that others disturbed are repeated as long as the budget lasts; where exactly `repeats` runs are due, none
    is. `watch` tells of others (None: nobody does), `on_batch` hears the share of the budget spent.
    """
    began = time.perf_counter()
    estimate_us, step_us = _first_look(subject, first_us, resolution_us)
    train = _train(subject, estimate_us, step_us, may_be_short=plan.repeats is None)
    run_s = _warm_up(subject, train, estimate_us, began + WARM_UP_SHARE * plan.budget_s)
    batch_s = min(plan.batch_s, BATCH_SHARE * plan.budget_s)
    most = max(1, min(MAX_RUNS, int(batch_s / run_s)))

    def batch(runs: int) -> Batch:
        return _batch(subject, _Shape(runs, train, OVERTIME * batch_s), watch, is_rewarmed=run_s < batch_s)

    if plan.repeats is None:
        seen, judged = _batches_within_budget(plan, began, most, batch, on_batch)
    else:
        seen = _batches_of_repeats(plan.repeats, plan.pause_s, most, batch, on_batch)
        judged = Judged(seen, is_busy=any(disturbances(seen)))
    return Timing(seen, judged, step_us, train)


@dataclass(frozen=True, slots=True)
class Turn:
    """How a batch of a launch is taken that others' batches come between."""

    shape: _Shape
    is_rewarmed: bool
    step_us: float  # of the event clock

    @property
    def train(self) -> int:
        return self.shape.train


def plan_turn(subject: Subject, *, first_us: float, batch_s: float, resolution_us: float) -> Turn:
    """Warm `subject` up, and plan batches of about `batch_s`; a longer launch runs once in each.

    It must have run before: `first_us` is what that took by its event.
    """
    estimate_us, step_us = _first_look(subject, first_us, resolution_us)
    train = _train(subject, estimate_us, step_us, may_be_short=True)
    run_s = _warm_up(subject, train, estimate_us, time.perf_counter() + batch_s)
    runs = max(1, min(MAX_RUNS, int(batch_s / run_s)))
    return Turn(_Shape(runs, train, OVERTIME * batch_s), run_s < batch_s, step_us)


def take_turn(subject: Subject, turn: Turn, watch: Watch | None) -> Batch:
    """Run one batch."""
    return _batch(subject, turn.shape, watch, is_rewarmed=turn.is_rewarmed)


def _batches_of_repeats(
    repeats: int, pause_s: float, most: int, batch: Callable[[int], Batch], on_batch: Callable[[float], None]
) -> tuple[Batch, ...]:
    """Exactly so many runs in all, whatever they show."""
    most = max(1, min(most, ceil(repeats / MIN_BATCHES)))
    seen: list[Batch] = []
    done = 0
    while True:
        seen.append(batch(min(most, repeats - done)))
        done += len(seen[-1].runs_us)
        on_batch(done / repeats)
        if done >= repeats:
            return tuple(seen)
        time.sleep(pause_s)


def _batches_within_budget(
    plan: Plan, began: float, most: int, batch: Callable[[int], Batch], on_batch: Callable[[float], None]
) -> tuple[tuple[Batch, ...], Judged]:
    """Until they are enough, but no longer than the budget lasts, which counts from `began`."""
    seen: list[Batch] = []
    pause_s = plan.pause_s
    batches_began = time.perf_counter()
    while True:
        seen.append(batch(most))
        now = time.perf_counter()
        spent_s = now - began
        on_batch(min(1.0, max(spent_s / plan.budget_s, len(seen) / MAX_BATCHES)))
        judged = judge(seen)
        # Another batch takes as long as the mean of those before it.
        over_budget = spent_s + (now - batches_began) / len(seen) > plan.budget_s
        if over_budget or len(seen) >= MAX_BATCHES or (not judged.is_busy and is_enough(judged.batches)):
            return tuple(seen), judged
        if disturbances(seen)[-1]:  # a shorter batch is more likely to pass between two disturbances
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S, max(plan.pause_s, PAUSE_SHARE * plan.budget_s))
            most = max(1, most // 2)
        else:
            pause_s = plan.pause_s
        time.sleep(pause_s)


def run_us(enqueue: Callable[[], cl.Event], train: int) -> float:
    """Mean time on the device of `train` launches queued one behind the other [us]. Raises MeasureError for none."""
    events = [enqueue() for _ in range(train)]
    cl.wait_for_events(events)
    total_ns = sum(event.profile.end - event.profile.start for event in events)
    if total_ns <= 0:
        raise MeasureError("this device's driver reports no profiling times")
    return total_ns / 1000 / train


def clock_step_ns(stamps_ns: list[int]) -> int:
    """Return the step of a clock [ns]: the greatest that divides all distances of its time stamps.

    0 if they are too few to tell.
    """
    distances = {stamp - stamps_ns[0] for stamp in stamps_ns[1:]}
    return gcd(*distances) if len(distances) >= STEP_RUNS else 0


def _first_look(subject: Subject, first_us: float, resolution_us: float) -> tuple[float, float]:
    """Return a first estimate of one launch's time, and the step of the event clock [us]."""
    if first_us > COARSEST_US / STEP_SHARE:
        return first_us, resolution_us
    stamps: list[int] = []
    times_us: list[float] = []
    for _ in range(STEP_RUNS):
        subject.restore(1)
        event = subject.enqueue()
        cl.wait_for_events([event])
        stamps += [event.profile.start, event.profile.end]
        times_us.append((stamps[-1] - stamps[-2]) / 1000)
    return median(times_us), max(resolution_us, clock_step_ns(stamps) / 1000)


def _train(subject: Subject, estimate_us: float, step_us: float, *, may_be_short: bool) -> int:
    """Return how many launches make one run. Where runs are counted they are no trains, unless the clock needs them."""
    wanted = TRAIN if estimate_us < TRAIN_US and may_be_short else 1
    if step_us > STEP_SHARE * estimate_us:
        wanted = max(wanted, min(LONGEST_TRAIN, ceil(step_us / (STEP_SHARE * max(estimate_us, step_us)))))
    return min(wanted, subject.longest_train or wanted)


def _warm_up(subject: Subject, train: int, estimate_us: float, deadline_s: float) -> float:
    """Run until successive batches agree, or until the deadline. What a run takes with everything about it [s]."""
    medians_us: list[float] = []
    run_s = max(1e-6, estimate_us * train / 1e6)
    while not is_warm(medians_us) and time.perf_counter() + run_s < deadline_s:
        began = time.perf_counter()
        runs = max(1, min(MAX_RUNS, int(WARM_UP_BATCH_S / run_s)))
        medians_us.append(_batch(subject, _Shape(runs, train), None, is_rewarmed=False).median_us)
        run_s = max(1e-6, (time.perf_counter() - began) / runs)
    return run_s


def _batch(subject: Subject, shape: _Shape, watch: Watch | None, *, is_rewarmed: bool) -> Batch:
    subject.begin_batch()
    if is_rewarmed:  # the pause, and another set of buffers, have left the caches cold
        rouse(subject)
    if watch is not None:
        watch.begin()
    runs_us: list[float] = []
    walls_us: list[float] = []
    overheads_us: list[float] = []
    began = time.perf_counter()
    for _ in range(shape.runs):
        if runs_us and time.perf_counter() - began > shape.longest_s:
            break
        subject.restore(shape.train)
        if shape.train > 1:
            runs_us.append(run_us(subject.enqueue, shape.train))
            continue
        event_us, wall_us = _timed_alone(subject)
        runs_us.append(event_us)
        walls_us.append(wall_us)
        overheads_us.append(max(0.0, wall_us - event_us))
    load = watch.end() if watch is not None else None
    for _ in range(SINGLES if shape.train > 1 else 0):
        subject.restore(1)
        event_us, wall_us = _timed_alone(subject)
        walls_us.append(wall_us)
        overheads_us.append(max(0.0, wall_us - event_us))
    return Batch(tuple(runs_us), tuple(walls_us), tuple(overheads_us), load)


def rouse(subject: Subject) -> None:
    """Launch once, and again until caches and memory are as fast as while a program keeps them busy."""
    began = time.perf_counter()
    while True:
        subject.restore(1)
        run_us(subject.enqueue, 1)
        if time.perf_counter() - began >= AWAKE_S:
            return


def _timed_alone(subject: Subject) -> tuple[float, float]:
    """Return the event's time and the wall clock's, from before enqueue to after the end [us]."""
    began = time.perf_counter()
    event = subject.enqueue()
    event.wait()
    wall_us = (time.perf_counter() - began) * 1e6
    return (event.profile.end - event.profile.start) / 1000, wall_us
