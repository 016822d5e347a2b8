"""Times many launches in rounds over all of them, so that no disturbance and no mood of the clock hits one alone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Protocol

from profiler.batches import CROWDED, DISPLACED, Load, others_ran
from profiler.measurement import MeasureError
from profiler.statistics import spread_percent

AGREE = 0.02  # the two samples that decide may differ by so much
MOST_SAMPLES = 15
RECENT = 100  # samples, over which it can be told whether others ran at all: the system counts in steps of 10 ms
LONG_US = 20_000.0  # beside which it does not count that what ran before has cooled the caches
ROUNDS_SHARE = 0.8  # of the time, where there are repeats


class Decides(StrEnum):
    """Which of a launch's samples count.

    Rates are what the device can sustain, so whatever else ran on the machine must not count: the fastest do. Where
    cores contend, though, a run in which one of them was away looks fast: there the middle does.
    """

    FASTEST = "fastest"
    MIDDLE = "middle"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a few runs, one after the other, took: the fastest of them or their median, as the launch decides."""

    us: float
    is_disturbed: bool


@dataclass(slots=True)
class Timed:
    """One launch and what was seen of it. `run_us` times it once; `items` is its number of work-items."""

    run_us: Callable[[], float]
    items: int
    runs: int  # for one sample
    decides: Decides = Decides.FASTEST
    floor: Timed | None = None  # an empty launch
    probe: int = 0  # the number of the probe that it belongs to
    failure: str = ""  # why it could not be timed
    samples: list[Sample] = field(default_factory=list)

    @property
    def us(self) -> float:
        return decided_us(self.samples, self.decides)

    @property
    def beyond_floor_us(self) -> float:
        """What it took without the launch itself."""
        return self.us if self.floor is None else max(self.us - self.floor.us, 0.02 * self.us)

    @property
    def noise_percent(self) -> float:
        """Spread between the samples."""
        return round(spread_percent([sample.us for sample in trusted(self.samples)]), 2)


@dataclass(frozen=True, slots=True)
class Plan:
    """So many rounds; then for at most `repeat_s` again what was disturbed or does not agree."""

    rounds: int
    repeat_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """`repeats` counts samples beyond the rounds."""

    repeats: int
    other_load_percent: float | None  # None where the system does not tell


class Watch(Protocol):
    """`profiler.device_worker.machine_load.LoadWatch` is one."""

    def begin(self) -> None: ...

    def end(self) -> Load: ...


OnSample = Callable[[float, Timed, str], None]  # the share done in 0..1, what is timed next, in which round


def trusted(samples: Sequence[Sample]) -> list[Sample]:
    """Those that nothing disturbed, if they are two or more; else all."""
    calm = [sample for sample in samples if not sample.is_disturbed]
    return calm if len(calm) > 1 else list(samples)


def decided_us(samples: Sequence[Sample], decides: Decides) -> float:
    """Return what the samples say together [us]: the mean of the two fastest, or the median."""
    times = sorted(sample.us for sample in trusted(samples))
    if decides is Decides.MIDDLE:
        return median(times)
    return sum(times[:2]) / len(times[:2])


def agreed(samples: Sequence[Sample], decides: Decides) -> bool:
    """Return whether enough undisturbed samples are alike: the two fastest, or half of all."""
    times = sorted(sample.us for sample in samples if not sample.is_disturbed)
    if len(times) <= 1:
        return False
    if decides is Decides.FASTEST:
        return times[1] <= times[0] * (1 + AGREE)
    quarter = len(times) // 4
    return times[-1 - quarter] <= times[quarter] * (1 + 2 * AGREE)


def run_rounds(launches: Sequence[Timed], plan: Plan, new_watch: Callable[[], Watch], on_sample: OnSample) -> Outcome:
    """Sample every launch once a round, then repeat what deserves it."""
    whole, sampler = new_watch(), Sampler(new_watch())
    whole.begin()
    share_of_rounds = ROUNDS_SHARE if plan.repeat_s else 1.0
    for number in range(plan.rounds):
        for at, timed in enumerate(launches):
            done = (number + at / len(launches)) / plan.rounds
            on_sample(share_of_rounds * done, timed, f"round {number + 1} of {plan.rounds}")
            sampler.sample(timed)
    repeats = _repeat(launches, plan, sampler, on_sample)
    load = whole.end()
    return Outcome(repeats, None if load.others_s is None else round(100 * load.others, 1))


def _repeat(launches: Sequence[Timed], plan: Plan, sampler: Sampler, on_sample: OnSample) -> int:
    """Again and again what was disturbed or does not agree, until all do or the time is up."""
    began = time.monotonic()
    repeats = 0
    while doubtful := [timed for timed in launches if _is_doubtful(timed)]:
        for timed in doubtful:
            spent = (time.monotonic() - began) / max(plan.repeat_s, 1e-9)
            if spent >= 1:
                return repeats
            on_sample(ROUNDS_SHARE + (1 - ROUNDS_SHARE) * spent, timed, "again, as others disturbed it")
            sampler.sample(timed)
            repeats += 1
    return repeats


def _is_doubtful(timed: Timed) -> bool:
    is_open = not timed.failure and len(timed.samples) < MOST_SAMPLES
    return is_open and not agreed(timed.samples, timed.decides)


class Sampler:
    """Takes samples, and remembers what others did during the last of them."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._recent: deque[Load] = deque(maxlen=RECENT)

    def sample(self, timed: Timed) -> None:
        """One more of `timed`, unless it failed before."""
        if timed.failure:
            return
        try:
            if not timed.samples or timed.samples[-1].us < LONG_US:
                timed.run_us()  # whatever ran before has cooled the caches
            self._watch.begin()
            runs_us = [timed.run_us() for _ in range(timed.runs)]
            us = min(runs_us) if timed.decides is Decides.FASTEST else median(runs_us)
            self._recent.append(self._watch.end())
            timed.samples.append(Sample(us, is_disturbed(self._recent)))
        except MeasureError as error:
            timed.failure = error.message


def is_disturbed(recent: Sequence[Load]) -> bool:
    """Return whether our threads had to wait for others during the last of these.

    Where the system does not report waiting: whether others used much of the machine. Threads wait for each other, too;
    only if others ran did they wait for others.
    """
    load = recent[-1]
    if load.waited_s is None:
        return load.others > CROWDED
    return load.displaced > DISPLACED and others_ran(recent)
