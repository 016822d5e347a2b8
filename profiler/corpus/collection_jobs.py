"""What the collection asks of device processes, and what they answer. Plain data, importable without pyopencl.

Both jobs are run by `profiler.process.worker.run_job`, with `returns=NoneType`, and send an `Outcome` for each task as
soon as it is known: a value, or a `MeasureError` in its place. `AtStake` names the tasks that are lost if the process
ends now. A process that ends early has left the rest of its tasks undone.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.compiled import CompiledFacts
from profiler.corpus.kernel import CorpusDevice, CorpusKernel, CorpusLaunch, RowTiming

IN_TURN = 32  # launches that are timed together: a round of their batches takes about as long as most disturbances do
BUILD_JOB = "profiler.device_worker.corpus.build_job:run"  # takes a `BuildOrder`, answers with `BuiltKernel`
TIME_JOB = "profiler.device_worker.corpus.time_job:run"  # takes a `TimeOrder`, answers with `TimedRow`


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How long each part may take before the process is ended."""

    open_s: float = 30.0
    build_s: float = 20.0  # of one program, or of one local size's code
    first_run_s: float = 5.0  # also of each run between guard pages
    longest_run_s: float = 2.0  # a launch that takes longer is not timed


@dataclass(frozen=True, slots=True)
class BuildTask:
    """`proves`: run each launch that is not `checked` yet between guard pages."""

    number: int
    kernel: CorpusKernel
    proves: bool = False


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """Kernels to build for one device. `cache_folder` is where the time job finds them."""

    device_id: str
    cache_folder: str
    tasks: tuple[BuildTask, ...]
    limits: JobLimits = JobLimits()


@dataclass(frozen=True, slots=True)
class BuiltVariant:
    """The code that serves some of a kernel's launches, given by their places in `CorpusKernel.launches`."""

    launches: tuple[int, ...]
    facts: CompiledFacts


@dataclass(frozen=True, slots=True)
class RefusedLaunch:
    """A launch that must not be timed, by its place; `code` and `message` are those of a `MeasureError`."""

    launch: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """`checked` has a word for each launch: its own, or of what was proved now; empty if nothing was."""

    variants: tuple[BuiltVariant, ...]
    checked: tuple[str, ...]
    refused: tuple[RefusedLaunch, ...]
    spent_s: float


@dataclass(frozen=True, slots=True)
class TimeTask:
    """One row. Those of one kernel should follow one another, since they share its program."""

    number: int
    kernel: CorpusKernel
    launch: CorpusLaunch


@dataclass(frozen=True, slots=True)
class TimeOrder:
    """Launches to time on one device, in their order. `processors` are those that it may use; empty: all.

    The batches of `in_turn` neighbours take turns, and their outcomes are sent together: with 1, each as it is timed.
    """

    device: CorpusDevice
    processors: tuple[int, ...]
    cache_folder: str
    tasks: tuple[TimeTask, ...]
    limits: JobLimits = JobLimits()
    in_turn: int = IN_TURN


@dataclass(frozen=True, slots=True)
class TimedRow:
    """`was_built`: its code came from a build job.

    `ready_s` passed until the program was loaded and its arguments were filled, `first_s` in the first run, with
    whatever the driver still had to compile or to load for it, and `spent_s` for all of this row.
    """

    timing: RowTiming
    was_built: bool
    ready_s: float
    first_s: float
    spent_s: float
