"""Measure several versions of one launch in turns, and compare what they write.

    side = measure_side_by_side(requests, budget_s=20.0, stopping=Stopping(), on_progress=..., cancel=...)
    side.versions[2].median_us, side.ratio(2), side.versions[2].difference.equal

`requests` are `MeasureRequest`s: each version has a source, a kernel, build options and sizes of its own. All are for
one device, which one process measures: the first version first, then the others, one batch each in turn, so that drift
and disturbances hurt all alike. Buffers of the same name hold the same contents, those of the first version; a buffer
that the first version does not name is the one in the same position, if their types agree. A `MeasureRequest`'s own
`budget_s` and `repeats` are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import NoneType

from profiler.batches import Batch, median_of, repeat_interval
from profiler.buffer_retry import MAX_TRIES, as_long, as_requested, enlarged
from profiler.inferred_args import with_advice
from profiler.measure import MeasureLimits
from profiler.measurement import Cancelled, MeasureError, Measurement, MeasureRequest, OutOfBounds
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.process.worker import CancelToken, Limits, OnProgress, run_job
from profiler.turns import Difference, Ratio, Stopping, ratio_of

JOB = "profiler.device_worker.side_by_side:run"


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the device process is to keep to; `budget_s` is for all turns of all versions together."""

    limits: MeasureLimits
    budget_s: float
    stopping: Stopping


@dataclass(frozen=True, slots=True)
class Compared:
    """From the device process: a version ran, and its outputs differ from the first version's by this much."""

    difference: Difference


@dataclass(frozen=True, slots=True)
class Dropped:
    """From the device process: a version takes no more turns, as it is slower than the best."""


@dataclass(frozen=True, slots=True)
class Version:
    """What became of one version. Either it took turns, or `error` says why it did not.

    `turns_us` are the medians of its batches, the n-th of which was measured together with the n-th of each other
    version. `difference` compares its outputs with the first version's; the first one's own compares two of its runs.
    It is None where the first version did not run. `measurement` is what belongs into the store; None after a crash of
    another version, or a cancel.
    """

    request: MeasureRequest
    turns_us: tuple[float, ...] = ()
    median_us: float | None = None
    ci95_us: tuple[float, float] | None = None  # where the median of a repeat in a new process will lie
    runs: int = 0
    is_dropped: bool = False  # it was slower than the best, and took no more turns
    difference: Difference | None = None
    measurement: Measurement | None = None
    error: MeasureError | None = None

    @property
    def equal(self) -> bool | None:
        """Return whether all outputs are the first version's; None where that is not known."""
        return self.difference.equal if self.difference is not None else None

    @property
    def max_ulps(self) -> int | None:
        """Return the greatest distance of its outputs from the first version's; None for more than rounding."""
        return self.difference.max_ulps if self.difference is not None else None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One `Version` for each request, in their order."""

    versions: tuple[Version, ...]
    was_cancelled: bool = False  # what is known by then is here all the same

    @property
    def is_repeatable(self) -> bool:
        """Return whether two runs of the first version write the same; else no other version can equal it."""
        return self.versions[0].equal is not False

    @property
    def best(self) -> int | None:
        """Return the number of the version that took the least time; None where none ran."""
        timed = [number for number, version in enumerate(self.versions) if version.median_us is not None]
        return min(timed, key=lambda number: self.versions[number].median_us or 0.0) if timed else None

    def ratio(self, number: int, base: int = 0) -> Ratio | None:
        """Return the time of a version over that of another, by the turns that both took."""
        return ratio_of(self.versions[number].turns_us, self.versions[base].turns_us)


def measure_side_by_side(
    requests: Sequence[MeasureRequest],
    *,
    budget_s: float = 20.0,
    stopping: Stopping | None = None,
    limits: MeasureLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> SideBySide:
    """Build, check, compare and time each version; blocks until done, safe in any thread.

    Each must stay inside its buffers, as for `measure`. A version that fails has an error instead of times and costs
    nothing but itself: after a crash or a time-out the others begin again in a new process. After `cancel.set()` the
    result holds what is known by then. `budget_s` is for the timed turns; building and checking have their `limits`.
    """
    tasks = _Tasks(requests, on_progress)
    schedule = Schedule(limits or MeasureLimits(), budget_s, stopping or Stopping())
    was_cancelled = False
    while waiting := tasks.begin():
        opening = Phase(f"opening device `{waiting[0][1].device_id}`", schedule.limits.open_s)
        try:
            run_job(
                JOB,
                (waiting, schedule),
                returns=NoneType,
                limits=Limits(opening, schedule.limits.memory_bytes),
                on_progress=tasks.on_progress,
                on_task=tasks.on_task,
                cancel=cancel,
            )
        except Cancelled:
            was_cancelled = True
            break
        except MeasureError as error:
            tasks.fail(error)
    return SideBySide(tasks.versions(), was_cancelled)


@dataclass(slots=True)
class _Seen:
    """What is known of a version so far."""

    batches: list[Batch] = field(default_factory=list)
    is_dropped: bool = False
    difference: Difference | None = None
    measurement: Measurement | None = None
    error: MeasureError | None = None


class _Tasks:
    """Owns what became of each version, over as many processes as it takes."""

    def __init__(self, requests: Sequence[MeasureRequest], on_progress: OnProgress | None) -> None:
        self._asked = requests
        self._requests = list(requests)  # as asked for, or with longer buffers: see `profiler.buffer_retry`
        self._tries = 0
        self._on_progress = on_progress
        self._at_stake: tuple[int, ...] = ()
        self._seen = [_Seen() for _ in requests]
        self._told = 0.0

    def begin(self) -> tuple[tuple[int, MeasureRequest], ...]:
        """Return what the next process has to measure; nothing once all have an outcome."""
        waiting = [at for at, seen in enumerate(self._seen) if seen.error is None]
        if all(self._seen[at].measurement is not None for at in waiting):
            return ()
        for at in waiting:  # turns count only together with those of the others
            self._seen[at] = _Seen()
        self._at_stake = tuple(waiting)
        return tuple((at, self._requests[at]) for at in waiting)

    def on_task(self, message: AtStake | Outcome) -> None:
        match message:
            case AtStake(numbers):
                self._at_stake = numbers
            case Outcome(number, value):
                if not self._will_retry(number, value):
                    self._hear(self._seen[number], value)

    def _will_retry(self, number: int, value: object) -> bool:
        """Make buffers of guessed lengths longer for all versions, where one of them overran its own."""
        if not isinstance(value, OutOfBounds) or self._tries >= MAX_TRIES:
            return False
        before = self._requests[number]
        after = enlarged(before, value)
        if after is None:
            return False
        self._tries += 1
        self._requests = [as_long(one, before, after) for one in self._requests]
        return True

    def _hear(self, seen: _Seen, value: object) -> None:
        match value:
            case Batch():
                seen.batches.append(value)
            case Compared(difference):
                seen.difference = difference
            case Dropped():
                seen.is_dropped = True
            case Measurement():
                seen.measurement = value
            case MeasureError():
                seen.error = value

    def on_progress(self, fraction: float, text: str) -> None:
        if self._on_progress is not None:
            self._told = max(self._told, fraction)  # another process begins anew, but the user has seen this much
            self._on_progress(self._told, text)

    def fail(self, error: MeasureError) -> None:
        """Give the versions at stake this error: the process ended before its time."""
        for number in self._at_stake:
            self._seen[number].error = error

    def versions(self) -> tuple[Version, ...]:
        return tuple(map(_version, self._asked, self._requests, self._seen))


def _version(request: MeasureRequest, tried: MeasureRequest, seen: _Seen) -> Version:
    if not seen.batches or seen.error is not None:
        error = seen.error or Cancelled("cancelled")
        return Version(request, difference=seen.difference, error=with_advice(error, request))
    measured = as_requested(seen.measurement, request, tried) if seen.measurement is not None else None
    return Version(
        request=request,
        turns_us=tuple(batch.median_us for batch in seen.batches),
        median_us=measured.median_us if measured is not None else median_of(seen.batches),
        ci95_us=measured.ci95_us if measured is not None else repeat_interval(seen.batches),
        runs=measured.repeats if measured is not None else sum(len(batch.runs_us) for batch in seen.batches),
        is_dropped=seen.is_dropped,
        difference=seen.difference,
        measurement=measured,
    )
