"""Many tasks in device processes, one of which may end at any time: whoever is to blame pays, the others go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Generic, TypeVar

from model.errors import KernelcastError
from profiler.corpus.collection_jobs import BuildOrder, BuildTask, JobLimits, TimeOrder, TimeTask
from profiler.measurement import Cancelled, MeasureError
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.process.worker import CancelToken, Limits, run_job

MOST_IDLE_PROCESSES = 3  # in a row that end before they have begun a task: then it is not the kernels' fault


T = TypeVar("T", bound=BuildTask | TimeTask)
OnOutcome = Callable[[T, object], None]  # a value, or the KernelcastError in its place


def run_tasks(
    job: str,
    order: Callable[[tuple[T, ...]], BuildOrder | TimeOrder],
    tasks: Sequence[T],
    on_outcome: OnOutcome[T],
    *,
    limits: JobLimits,
    cancel: CancelToken | None = None,
) -> None:
    """Run all `tasks` of one device, in as many processes as it takes; each outcome is told as soon as it is known.

    Launches of a kernel that ended its process have none: most would do the same, and each end costs whatever else the
    process had prepared.

    Raises Cancelled, and the device's own failure if process after process ends before it has begun a task.
    """
    waiting = {task.number: task for task in tasks}
    idle = 0
    while waiting:
        process = _Process(waiting, on_outcome)
        failure = MeasureError("the device process left its tasks undone")
        try:
            run_job(
                job,
                (order(tuple(waiting.values())),),
                returns=NoneType,
                limits=Limits(Phase("opening the device", limits.open_s)),
                on_task=process.hear,
                cancel=cancel,
            )
        except Cancelled:
            raise
        except MeasureError as error:
            failure = error
            process.end(error)
        idle = 0 if process.told else idle + 1
        if idle >= MOST_IDLE_PROCESSES:
            raise failure


class _Process(Generic[T]):
    """Owns what is at stake in one process."""

    def __init__(self, waiting: dict[int, T], on_outcome: OnOutcome[T]) -> None:
        self._waiting: dict[int, T] = waiting
        self._on_outcome: Callable[[T, object], None] = on_outcome
        self._at_stake: tuple[int, ...] = ()
        self.told = 0

    def hear(self, message: AtStake | Outcome) -> None:
        match message:
            case AtStake(numbers):
                self._at_stake = numbers
            case Outcome(number, value):
                self._tell(number, value)

    def end(self, error: KernelcastError) -> None:
        """Handle a job that ended before its time.

        The kernels at stake get the error; what else there is of them is put off, without an outcome.
        """
        suspects = {self._waiting[number].kernel.id for number in self._at_stake if number in self._waiting}
        for number in self._at_stake:
            self._tell(number, error)
        for number in [number for number, task in self._waiting.items() if task.kernel.id in suspects]:
            del self._waiting[number]

    def _tell(self, number: int, value: object) -> None:
        task = self._waiting.pop(number, None)
        if task is not None:
            self.told += 1
            self._on_outcome(task, value)
