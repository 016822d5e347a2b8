"""Learn a device: measure kernels of the corpus' generator there, as lessons for what is predicted.

Half of them are at the scale of programs; kernels of real programs would be better still, but their texts are others'.
Their seeds are beyond the dataset's, so that the model has seen none of them. What is measured is kept at once; a later
call goes on with what is missing.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from statistics import median
from typing import Protocol

from model.device import Device
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.learned.asking import question_of
from model.learned.lessons import packed
from model.observing import count_observed
from model.opencl.kernel import Kernel
from model.opencl.normalise import normalised_tokens
from model.opencl.program import read_program
from model.work.analyse import analyse
from profiler.corpus.draw import Draw
from profiler.corpus.family import FAMILIES, PROGRAM, Family
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import CorpusKernel
from profiler.measure import MeasureLimits, measure_all
from profiler.measurement import Cancelled, MeasureError, Measurement, MeasureRequest
from profiler.process.worker import CancelToken
from profiler.store import Store, StoredMeasurement, corpus_kernel_id

FIRST_SEED = 1_000_000  # the dataset's are far below
LAUNCHES = 2  # of each kernel
AT_ONCE = 6  # kernels that one device process measures
BUDGET_S = 0.25  # of timed runs for each launch
LONGEST_S = 5.0  # of a first run, the compiler included
LONG_ENOUGH_US, SHORT_ENOUGH_US = (
    50.0,
    2e5,
)  # analytical times: shorter ones tell the launch's cost, which is calibrated
KERNELS, QUICK_KERNELS = 100, 24  # at the end of a calibration; few more than what a correction is judged from
MINUTES, QUICK_MINUTES = 3.0, 0.75  # that this may take at most
MOST_TRIES = 3  # of a launch while others use the machine
AGAIN_AFTER = 4  # batches, half a minute: what disturbed a launch may be over then

PAUSED = "waiting for another measurement"
AGAIN = "timing again what others disturbed"

OnProgress = Callable[[float, str], None]


class Turns(Protocol):
    """Tells whether somebody else wants the device."""

    @property
    def is_wanted(self) -> bool: ...

    def give_way(self) -> None:
        """Let them have it; returns when they are done."""


@dataclass(frozen=True, slots=True)
class LearnProgress:
    """How many launches of how many kernels are known now; `failed` launches could not be measured.

    `timed` launches were measured now. Of these, `disturbed` ones are not counted as known: each time others used so
    much of the processors that its time tells of them, `programs_percent` in the median.
    """

    kernels: int
    launches: int
    failed: int
    timed: int = 0
    disturbed: int = 0
    programs_percent: float | None = None

    @property
    def is_mostly_disturbed(self) -> bool:
        return 2 * self.disturbed > self.timed


@dataclass(frozen=True, slots=True)
class _Exercise:
    """A launch to measure with what the learned model is asked of it."""

    request: MeasureRequest
    question: bytes
    family: str

    @property
    def key(self) -> str:
        return f"{self.request.kernel.fingerprint} {self.request.launch.key}"


@dataclass(slots=True)
class _Pending:
    """An exercise to measure, in batch number `not_before` at the earliest, after so many `tries`."""

    exercise: _Exercise
    tries: int = 0
    not_before: int = 0


def learning_kernels() -> Iterator[CorpusKernel]:
    """Yield kernels of the generator without end, the same ones everywhere: every other one of a program's scale."""
    for number in count():
        draw = Draw("learning", number)
        programs, others = (
            draw.shuffled(sorted((f for f in FAMILIES.values() if (f.scale is PROGRAM) is wanted), key=_name))
            for wanted in (True, False)
        )
        for pair in zip(programs, others[: len(programs)], strict=True):
            yield from (corpus_kernel(family, FIRST_SEED + number) for family in pair)


def _name(family: Family) -> str:
    return family.name


def learn(
    device: Device,
    store: Store,
    *,
    minutes: float,
    most_kernels: int | None = None,
    on_progress: OnProgress,
    cancel: CancelToken,
    turns: Turns | None = None,
) -> LearnProgress:
    """Measure kernels on `device` until the time is over or `cancel` is set; blocks.

    Launches that others disturbed are timed again later. Where somebody else wants the device, what is being measured
    is given up, to be measured after them: `turns` tells. Raises StoreError.
    """
    session = _Session(device, store, cancel, turns, on_progress)
    began, tried = time.monotonic(), 0
    remaining = islice(learning_kernels(), most_kernels)
    while (batch := list(islice(remaining, AT_ONCE))) or session.has_disturbed:
        spent = (time.monotonic() - began - session.paused_s) / (60 * minutes)
        if spent >= 1 or cancel.is_set():
            break
        session.tell(max(spent, tried / (most_kernels or math.inf)), _said(tried, most_kernels) if batch else AGAIN)
        session.measure(batch)
        tried += len(batch)
    return session.progress()


class _Session:
    """Owns what one call has measured so far. `paused_s` is how long others had the device meanwhile."""

    def __init__(
        self, device: Device, store: Store, cancel: CancelToken, turns: Turns | None, on_progress: OnProgress
    ) -> None:
        self._device, self._store, self._cancel, self._turns = device, store, cancel, turns
        self._on_progress = on_progress
        self._fraction = 0.0
        self._kernels: set[str] = set()  # fingerprints
        self._again: deque[_Pending] = deque()  # those that were disturbed
        self._disturbed: dict[str, Measurement] = {}  # by launch, the last one
        self._launches = self._failed = self._timed = self._batches = 0
        self.paused_s = 0.0

    def tell(self, fraction: float, text: str) -> None:
        self._fraction = fraction
        self._on_progress(fraction, text)

    @property
    def has_disturbed(self) -> bool:
        """Whether launches wait to be timed again."""
        return bool(self._again)

    def progress(self) -> LearnProgress:
        loads = [m.programs_percent for m in self._disturbed.values() if m.programs_percent is not None]
        return LearnProgress(
            len(self._kernels), self._launches, self._failed, self._timed, len(self._disturbed),
            median(loads) if loads else None,
        )  # fmt: skip

    def measure(self, kernels: Sequence[CorpusKernel]) -> None:
        """Measure what is not known yet of these kernels, and what was disturbed a while ago; without any, all of that.

        Less where it is cancelled.
        """
        self._batches += 1
        waiting: list[_Pending] = []
        for kernel in kernels:
            self._give_way()
            for each in _exercises(kernel, self._device):
                if _is_known(self._store, each, self._device):
                    self._count(each)
                else:
                    waiting.append(_Pending(each))
        waiting += self._due(is_any=not kernels)
        while waiting and not self._cancel.is_set():
            outcomes = list(zip(waiting, self._measured(waiting), strict=True))
            kept = [(one.exercise, outcome) for one, outcome in outcomes if isinstance(outcome, Measurement)]
            self._store.add(*(_entry(exercise, outcome) for exercise, outcome in kept))
            waiting = [one for one, outcome in outcomes if not self._take(one, outcome)]
            self._give_way()

    def _due(self, *, is_any: bool) -> Iterator[_Pending]:
        """Take those off that were disturbed a while ago, or the first ones."""
        for _ in range(min(len(self._again), AT_ONCE * LAUNCHES)):
            if not is_any and self._again[0].not_before > self._batches:
                return
            yield self._again.popleft()

    def _take(self, one: _Pending, outcome: Measurement | MeasureError) -> bool:
        """Note what came of it; False where it was given up."""
        if isinstance(outcome, Cancelled):
            return False
        if isinstance(outcome, MeasureError):
            self._failed += 1
            return True
        key = one.exercise.key
        self._timed += one.tries == 0
        one.tries += 1
        if not outcome.is_disturbed:
            self._disturbed.pop(key, None)
            self._count(one.exercise)
            return True
        self._disturbed[key] = outcome
        if one.tries < MOST_TRIES:
            one.not_before = self._batches + AGAIN_AFTER
            self._again.append(one)
        return True

    def _count(self, known: _Exercise) -> None:
        self._launches += 1
        self._kernels.add(known.request.kernel.fingerprint)

    def _measured(self, waiting: Sequence[_Pending]) -> Sequence[Measurement | MeasureError]:
        limits = MeasureLimits(first_run_s=LONGEST_S)
        stop = _Stop(self._cancel, self._turns)
        return measure_all([each.exercise.request for each in waiting], limits=limits, cancel=stop)

    def _give_way(self) -> None:
        """Let others have the device first, and come back."""
        if self._turns is None or not self._turns.is_wanted or self._cancel.is_set():
            return
        began = time.monotonic()
        self._on_progress(self._fraction, PAUSED)
        self._turns.give_way()
        self.paused_s += time.monotonic() - began


@dataclass(frozen=True, slots=True)
class _Stop:
    """Set where nothing more is to be measured, or others are to measure first."""

    cancel: CancelToken
    turns: Turns | None

    def is_set(self) -> bool:
        return self.cancel.is_set() or (self.turns is not None and self.turns.is_wanted)


def _said(kernels: int, most_kernels: int | None) -> str:
    return f"{kernels} kernels" if most_kernels is None else f"{kernels} of {most_kernels} kernels"


def _exercises(made: CorpusKernel, device: Device) -> list[_Exercise]:
    """Return the launches to measure: long enough ones first, in the order of the generator."""
    program = read_program(made.source, None, made.options)
    kernel = program.kernel(made.name)
    work, tokens = analyse(program, kernel), normalised_tokens(program, made.name)
    fitting: list[_Exercise] = []
    others: list[_Exercise] = []
    for each in made.launches:
        launch = on_device(each.launch, device)
        question = question_of(work, count_observed(program, kernel, work, launch), launch, device, tokens)
        request = MeasureRequest(made.source, None, kernel, each.launch, device.id, BUDGET_S)
        is_fitting = LONG_ENOUGH_US <= question.total_us <= SHORT_ENOUGH_US
        (fitting if is_fitting else others).append(_Exercise(request, packed(question), made.family))
        if len(fitting) == LAUNCHES:
            break
    return [*fitting, *others][:LAUNCHES]


def _is_known(store: Store, one: _Exercise, device: Device) -> bool:
    """Return whether it was measured undisturbed. If the device was calibrated since, its model input is updated."""
    kernel: Kernel = one.request.kernel
    found = store.measurements_of(kernel.fingerprint, device.id, device.driver)
    known = (each for each in found if _key(each.launch) == one.request.launch.key)
    newest = next((each for each in known if not each.measurement.is_disturbed), None)
    if newest is not None:
        store.ask_anew(newest, one.question)
    return newest is not None


def _key(launch: Launch | None) -> str:
    return launch.key if launch is not None else ""


def _entry(one: _Exercise, measured: Measurement) -> StoredMeasurement:
    launch = one.request.launch
    return StoredMeasurement(measured, None, corpus_kernel_id(one.family, measured.kernel), launch, one.question)
