"""Versions of one launch, prepared one after the other and then timed in turns, inside the device process."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyopencl as cl

from model.launch.fill_target import buffer_of
from profiler.arguments import Argument, ImageArgument, check_memory, plan_arguments
from profiler.batches import Batch, judge
from profiler.buffer_retry import enlarged
from profiler.changed_inputs import changed_inputs
from profiler.device_worker.corpus.argument_pool import written_buffers
from profiler.device_worker.corpus.bound_launch import Placed
from profiler.device_worker.failures import named_failures
from profiler.device_worker.guards.proof import prove_in_bounds
from profiler.device_worker.machine_load import LoadWatch
from profiler.device_worker.measuring import ON_CRASH, ON_TIMEOUT, SLACK_S, check_sizes
from profiler.device_worker.memory.allocation import memory_limits
from profiler.device_worker.memory.shared_buffers import SharedBuffers, named_as
from profiler.device_worker.output_comparison import Output, difference
from profiler.device_worker.probing import open_device
from profiler.device_worker.programs import Programs, Trial, kernel_of
from profiler.device_worker.summary import Before, summary
from profiler.device_worker.timing import Timing, Turn, plan_turn, run_us, take_turn
from profiler.measurement import MeasureError, MeasureRequest, OutOfBounds, TimedOut
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.side_by_side import Compared, Dropped, Schedule
from profiler.turns import Difference, is_all_known, slower
from profiler.warnings import Circumstances

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

MOST_TURNS = 60
BATCH_S = 0.05  # of a version in each turn; much shorter ones are not counted well by the system
PAUSE_S = 0.01
PREPARING = 0.5  # share of the progress


def run(tasks: tuple[tuple[int, MeasureRequest], ...], schedule: Schedule, reporter: Reporter) -> None:
    """Measure the versions, and send what is known of each as soon as it is.

    Returns early, with errors but no measurements, where a driver's failure leaves nothing to be trusted: the rest
    then begins anew in another process. Raises DeviceGone, which concerns them all.
    """
    job = _Job(tasks, schedule, reporter)
    if job.prepare():
        job.time()


@dataclass(slots=True)
class _Ready:
    """A version whose buffers are filled, and that has run."""

    number: int
    request: MeasureRequest
    subject: Placed
    turn: Turn
    first_us: float
    checked: str
    circumstances: Circumstances
    batches: list[Batch]

    @property
    def longest_s(self) -> float:
        """What a turn takes unless something went wrong."""
        return SLACK_S + 5 * (BATCH_S + 4 * self.first_us / 1e6)


class _Job:
    """Owns the device's context, the buffers of all versions, and those versions that are ready."""

    def __init__(self, tasks: tuple[tuple[int, MeasureRequest], ...], schedule: Schedule, reporter: Reporter) -> None:
        self._tasks, self._schedule, self._reporter = tasks, schedule, reporter
        self._programs = Programs(open_device(tasks[0][1].device_id), schedule.limits.build_s, reporter)
        self._buffers: SharedBuffers | None = None
        self._first_plan: tuple[Argument, ...] = ()
        self._first_outputs: list[Output] | None = None  # None until the first version ran
        self._first_written = frozenset[str]()  # names of what it may write
        self._ready: list[_Ready] = []

    def prepare(self) -> bool:
        """Build, check and run each version once. Return whether they can be timed now."""
        for at, (number, request) in enumerate(self._tasks):
            self._reporter.send(AtStake((number,)))
            try:
                self._ready.append(self._prepared(number, request, PREPARING * at / len(self._tasks)))
            except MeasureError as error:
                self._reporter.send(Outcome(number, error))
                if isinstance(error, OutOfBounds) and enlarged(request, error) is not None:
                    return False  # all begin again, with longer buffers
                cause = error.__cause__
                # A logic error refuses a call, such as a work-group that is too large; others may leave ruins.
                if error.ends_process or (isinstance(cause, cl.Error) and not isinstance(cause, cl.LogicError)):
                    return False
        return bool(self._ready)

    def _prepared(self, number: int, request: MeasureRequest, fraction: float) -> _Ready:
        subject = f"kernel `{request.kernel.name}`"
        which = f"version {number}: " if number else "the original: "
        check_sizes(request.launch, self._programs.device, subject)
        alike = self._with_first_fills(request)
        own_plan = plan_arguments(alike.kernel, alike.launch, alike.source)
        check_memory(own_plan, memory_limits(self._programs.device))
        plan = named_as(self._first_plan, own_plan)
        self._first_plan = self._first_plan or plan
        program = self._programs.program(alike)
        kernel = kernel_of(program, alike)
        queue, context = self._programs.queue, self._programs.context
        running = Phase(subject, self._schedule.limits.first_run_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
        with named_failures(subject):
            self._reporter.begin(fraction, f"{which}checking", running)
            trial = Trial(context, queue, program, kernel, own_plan, alike)
            checked = prove_in_bounds(trial, self._reporter, running)
            self._reporter.begin(fraction, f"{which}running", running)
            self._buffers = self._buffers or SharedBuffers(context, queue, self._shortest())
            changed = changed_inputs(request)
            names = written_buffers(request.kernel) | _written_images(own_plan)
            # What the first version may write is compared in others too, which may only read it.
            written = [
                at
                for at, (own, shared) in enumerate(zip(own_plan, plan, strict=True))
                if own.name in names or shared.name in self._first_written
            ]
            self._first_written = self._first_written or frozenset(plan[at].name for at in written)
            restored = [at for at, argument in enumerate(own_plan) if argument.name in changed]
            places = self._buffers.bind(plan, written)
            pristine = self._buffers.pristine(plan, written)
            sizes = (request.launch.global_size, request.launch.local_size)
            # Everything it may write is put back: another version has left its outputs there.
            alone = Placed(queue, kernel, sizes, places, pristine)
            first_us = self._compare(number, alone, plan, places[0], written)
            placed = Placed(queue, kernel, sizes, places, self._buffers.pristine(plan, restored))
            resolution_us = self._programs.device.profiling_timer_resolution / 1000
            turn = plan_turn(placed, first_us=first_us, batch_s=BATCH_S, resolution_us=resolution_us)
        seen = Circumstances(is_restored=not changed & _written_images(own_plan), changed=tuple(sorted(changed)))
        return _Ready(number, request, placed, turn, first_us, checked, seen, [])

    def _shortest(self) -> int:
        """Return the length of the shortest buffer of all versions: what one may not exceed, none does."""
        lengths = [length for _, request in self._tasks for _, length in request.launch.buffers]
        return min(lengths, default=0)

    def _with_first_fills(self, request: MeasureRequest) -> MeasureRequest:
        """Return the request with the first version's contents in all buffers that both name."""
        first = self._tasks[0][1]
        both = {p.name for p in first.kernel.parameters} & {p.name for p in request.kernel.parameters}
        own = [fill for fill in request.launch.fills if buffer_of(fill[0]) not in both]
        theirs = [fill for fill in first.launch.fills if buffer_of(fill[0]) in both]
        fills = tuple(sorted([*own, *theirs], key=lambda fill: fill[0]))
        if fills == tuple(sorted(request.launch.fills, key=lambda fill: fill[0])):
            return request
        return replace(request, launch=replace(request.launch, fills=fills))

    def _compare(
        self, number: int, alone: Placed, plan: tuple[Argument, ...], values: Sequence[object], written: Sequence[int]
    ) -> float:
        """Run once from pristine contents, and send how the outputs differ from the first version's.

        Returns the time of that run [us]. The first version runs twice, and is compared with itself.
        """
        assert self._buffers is not None
        for is_first in (True, False) if self._first_outputs is None and not number else (False,):
            alone.restore(1)
            first_us = run_us(alone.enqueue, 1)
            outputs = self._buffers.outputs(plan, values, written)
            if is_first:
                self._first_outputs = outputs
        if self._first_outputs is not None:
            found: Difference = difference(self._first_outputs, outputs)
            self._reporter.send(Outcome(number, Compared(found)))
        return first_us

    def time(self) -> None:
        """Take turns until enough is known, or the budget is spent."""
        assert self._buffers is not None
        self._buffers.grow()
        load_average = os.getloadavg()[0]
        watch = LoadWatch(is_cpu=bool(self._programs.device.type & cl.device_type.CPU))
        live = sorted(self._ready, key=lambda one: one.first_us)  # the fastest are timed whatever the budget
        began = time.perf_counter()
        for turn in range(MOST_TURNS):
            is_complete = self._take_turns(_in_order(live, turn), turn, len(live), began, watch)
            out = slower({one.number: one.batches for one in live}, self._schedule.stopping)
            for number in sorted(out):
                self._reporter.send(Outcome(number, Dropped()))
            live = [one for one in live if one.number not in out]
            if not is_complete or is_all_known({one.number: one.batches for one in live}):
                break
        self._send_summaries(load_average)

    def _take_turns(self, order: Iterator[_Ready], turn: int, count: int, began: float, watch: LoadWatch) -> bool:
        """Return whether the budget lasted for all of them, and lasts on."""
        budget_s = self._schedule.budget_s
        text = f"turn {turn + 1}: {count} version{'s' if count > 1 else ''}"
        for one in order:
            spent_s = time.perf_counter() - began
            if spent_s > budget_s and (turn or one is not self._ready[0]):
                return False
            name = f"kernel `{one.request.kernel.name}`"
            fraction = PREPARING + (1 - PREPARING) * min(1.0, spent_s / budget_s)
            self._reporter.send(AtStake((one.number,)))
            phase = Phase(name, one.longest_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
            self._reporter.begin(fraction, text, phase)
            with named_failures(name):
                batch = take_turn(one.subject, one.turn, watch)
            one.batches.append(batch)
            self._reporter.send(Outcome(one.number, batch))
            time.sleep(PAUSE_S)
        return time.perf_counter() - began <= budget_s

    def _send_summaries(self, load_average: float) -> None:
        loads = deque((b.load for one in self._ready for b in one.batches if b.load is not None), maxlen=64)
        for one in self._ready:
            if not one.batches:
                late = TimedOut("the time budget was spent before its turn came; a larger one, or fewer versions, help")
                self._reporter.send(Outcome(one.number, late))
                continue
            judged = judge(one.batches)
            timing = Timing(tuple(one.batches), judged, one.turn.step_us, one.turn.train)
            before = Before(load_average, one.checked, tuple(loads))
            seen = replace(one.circumstances, is_busy=judged.is_busy)
            measured = summary(one.request, self._programs.device, timing, before, seen)
            self._reporter.send(Outcome(one.number, measured))


def _in_order(live: Sequence[_Ready], turn: int) -> Iterator[_Ready]:
    """Begin each turn with another version, and go backwards in every other: what ran before may matter."""
    start = turn % max(1, len(live))
    order = [*live[start:], *live[:start]]
    return iter(order if turn % 2 == 0 else order[::-1])


def _written_images(plan: Sequence[Argument]) -> frozenset[str]:
    return frozenset(a.name for a in plan if isinstance(a, ImageArgument) and a.access != "read_only")
