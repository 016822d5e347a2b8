"""Measure launches on a real device, in processes that may crash, hang or be cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType

from profiler.buffer_retry import MAX_TRIES, as_requested, enlarged
from profiler.inferred_args import with_advice
from profiler.measurement import Cancelled, MeasureError, Measurement, MeasureRequest, OutOfBounds
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.process.worker import CancelToken, Limits, OnProgress, run_job


@dataclass(frozen=True, slots=True)
class MeasureLimits:
    """How long each part may take, and how much memory all of it (0: no limit)."""

    open_s: float = 30.0
    build_s: float = 60.0
    first_run_s: float = 20.0  # with the compilation that PoCL does at the first launch
    memory_bytes: int = 0


def measure(
    request: MeasureRequest,
    *,
    limits: MeasureLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Measurement:
    """Build, run and time `request.launch`; blocks until done, safe in any thread.

    Raises a `MeasureError` that says what went wrong: NeedsAnnotation, BuildFailed (with the user's line), OutOfBounds,
    KernelCrashed, TimedOut, OutOfResources, DeviceGone or Cancelled (after `cancel.set()`, at once).
    """
    (outcome,) = measure_all((request,), limits=limits, on_progress=on_progress, cancel=cancel)
    if isinstance(outcome, MeasureError):
        raise outcome
    return outcome


def measure_all(
    requests: Sequence[MeasureRequest],
    *,
    limits: MeasureLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Measurement | MeasureError, ...]:
    """Measure each of `requests`, one after the other; blocks until done, safe in any thread. One outcome for each.

    Requests of one device share a process, and those of one source and its options share a build. A failure costs its
    own launch alone: after a crash or a time-out the rest goes on in a new process. After `cancel.set()` what was
    measured is kept, and the rest is `Cancelled`. A launch that overruns buffers of guessed lengths is tried again with
    longer ones: see `profiler.buffer_retry`.
    """
    limits = limits or MeasureLimits()
    tasks = _Tasks(requests, on_progress)
    while waiting := tasks.begin():
        opening = Phase(f"opening device `{waiting[0][1].device_id}`", limits.open_s)
        try:
            run_job(
                "profiler.device_worker.measuring:run",
                (waiting, limits),
                returns=NoneType,
                limits=Limits(opening, limits.memory_bytes),
                on_progress=tasks.on_progress,
                on_task=tasks.on_task,
                cancel=cancel,
            )
        except Cancelled as error:
            return tuple(tasks.outcomes.get(number, error) for number in range(len(requests)))
        except MeasureError as error:
            tasks.fail(error)
    return tuple(tasks.outcomes[number] for number in range(len(requests)))


class _Tasks:
    """Owns what became of each request, over as many processes as it takes."""

    def __init__(self, requests: Sequence[MeasureRequest], on_progress: OnProgress | None) -> None:
        self._requests = requests
        self._on_progress = on_progress
        self._at_stake: tuple[int, ...] = ()
        self._tried = [[one] for one in requests]  # as asked for, then with longer and longer buffers
        self.outcomes: dict[int, Measurement | MeasureError] = {}

    def begin(self) -> tuple[tuple[int, MeasureRequest], ...]:
        """Return what the next process has to do, all on one device; at first all of it is at stake."""
        waiting = [(number, tries[-1]) for number, tries in enumerate(self._tried) if number not in self.outcomes]
        tasks = tuple((number, one) for number, one in waiting if one.device_id == waiting[0][1].device_id)
        self._at_stake = tuple(number for number, _ in tasks)
        return tasks

    def on_task(self, message: AtStake | Outcome) -> None:
        match message:
            case AtStake(numbers):
                self._at_stake = numbers
            case Outcome(number, value):
                self._end(number, value)

    def on_progress(self, fraction: float, text: str) -> None:
        if self._on_progress is None:
            return
        of_which = ""
        if len(self._requests) > 1 and self._at_stake:
            of_which = f"{self._requests[self._at_stake[0]].launch.describe()}: "
        self._on_progress((len(self.outcomes) + fraction) / len(self._requests), of_which + text)

    def fail(self, error: MeasureError) -> None:
        """Give the launches at stake this error: the process ended before its time."""
        for number in self._at_stake:
            if number not in self.outcomes:
                self._end(number, error)

    def _end(self, number: int, outcome: Measurement | MeasureError) -> None:
        """Keep the outcome, unless another try is worth it."""
        tries = self._tried[number]
        if isinstance(outcome, OutOfBounds) and len(tries) <= MAX_TRIES:
            again = enlarged(tries[-1], outcome)
            if again is not None:
                tries.append(again)
                return
        if isinstance(outcome, Measurement):
            self.outcomes[number] = as_requested(outcome, tries[0], tries[-1])
        else:
            self.outcomes[number] = with_advice(outcome, tries[-1])
