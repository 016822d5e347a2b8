"""Times many launches of many kernels on one device, some in turn; nothing else of ours runs meanwhile."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import BufferArgument, check_memory, plan_arguments
from profiler.corpus.collection_jobs import TimedRow, TimeOrder, TimeTask
from profiler.corpus.kernel import RowTiming
from profiler.device_worker.building import ON_COMPILER_CRASH
from profiler.device_worker.corpus.argument_pool import Supply, written_buffers
from profiler.device_worker.corpus.bound_launch import Placed
from profiler.device_worker.corpus.load_window import LoadWindow, Others, Pace
from profiler.device_worker.corpus.pocl_cache import OwnCache
from profiler.device_worker.corpus.pool import NoRoom
from profiler.device_worker.corpus.program_cache import Shelf
from profiler.device_worker.corpus.quick_timing import QuickBatch, Timetable, first_run, time_batch, timetable
from profiler.device_worker.corpus.request_builder import Asking
from profiler.device_worker.failures import named_failures
from profiler.device_worker.memory.allocation import memory_limits
from profiler.device_worker.probing import open_on
from profiler.measurement import MeasureError, MeasureRequest, TimedOut
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.statistics import quantile, spread_percent

if TYPE_CHECKING:
    from profiler.arguments import Argument
    from profiler.device_worker.main import Reporter


def turns(batches: Sequence[int]) -> Iterator[int]:
    """Places in `batches`, each as often as its number says and spread evenly over the whole."""
    due = sorted(((2 * turn + 1) / (2 * count), place) for place, count in enumerate(batches) for turn in range(count))
    return (place for _, place in due)


MOST_BYTES = 2 << 30  # of all device buffers that are kept
MOST_OF_DEVICE = 0.5
PLACES = 3  # of the arguments of a launch whose buffers take at most
SMALL_BYTES = 2 << 20
SLACK_S = 5.0
LATER = 5.0  # times what is expected, after which something must have gone wrong
PAUSE_S = 0.01  # between batches where none take turns
ON_TIMEOUT = "a loop that never ends, or a launch that is too large for the corpus"


def run(order: TimeOrder, reporter: Reporter) -> None:
    """Time each task, and send its outcome as soon as it is known. Raises DeviceGone, which concerns them all.

    Neighbours in `order` take turns, see `_Job.time`, so that none of them has an outcome before all of them ran.
    """
    job = _Job(order, reporter)
    waiting = deque(order.tasks)
    while waiting:
        job.time(job.prepare(waiting), waiting)


@dataclass(slots=True)
class _Ready:
    """A launch whose program is loaded, whose arguments are filled, and that has run. `spent_s` until now."""

    task: TimeTask
    placed: Placed
    table: Timetable
    was_built: bool
    ready_s: float
    first_s: float
    spent_s: float
    batches: list[QuickBatch] = field(default_factory=list)


class _Job:
    """Owns the device's context and all that is kept from row to row."""

    def __init__(self, order: TimeOrder, reporter: Reporter) -> None:
        self._order, self._reporter = order, reporter
        self._cache = OwnCache()
        self._device = open_on(order.device.device_id, order.processors)
        self._asking = Asking(order.device.device_id, Path(order.cache_folder))
        self._window = LoadWindow(order.processors)
        self._pace = Pace(order.processors)
        self.open_anew()

    def open_anew(self) -> None:
        """After a driver's error nothing that lives in its context can be trusted."""
        with named_failures(f"opening device `{self._order.device.device_id}`"):
            self._context = cl.Context([self._device])
            properties = cl.command_queue_properties.PROFILING_ENABLE
            self._queue = cl.CommandQueue(self._context, properties=properties)
            self._shelf = Shelf(self._context, self._device, Path(self._order.cache_folder), loads=True)
            room_bytes = int(memory_limits(self._device).global_mem_bytes * MOST_OF_DEVICE)
            self._supply = Supply(self._context, self._queue, min(MOST_BYTES, room_bytes))

    def prepare(self, waiting: deque[TimeTask]) -> list[_Ready]:
        """Take from `waiting` what can be timed in turn: so many, or as many as there is room for beside each other."""
        ready: list[_Ready] = []
        while waiting and len(ready) < self._order.in_turn:
            task = waiting.popleft()
            self._reporter.send(AtStake((task.number,)))
            try:
                ready.append(self._prepared(task))
            except MeasureError as error:
                if isinstance(error, NoRoom) and ready:
                    waiting.appendleft(task)
                    break
                self._reporter.send(Outcome(task.number, error))
                if isinstance(error.__cause__, cl.Error):
                    self._put_back(ready, waiting)
        return ready

    def time(self, ready: list[_Ready], waiting: deque[TimeTask]) -> None:
        """Batch by batch, in turns: what slows the machine down for a while hits a part of each launch's batches.

        After a failure those without an outcome go back to `waiting`.
        """
        load_average = os.getloadavg()[0]
        longest_s = SLACK_S + sum(LATER * one.table.longest_s for one in ready)
        self._reporter.begin(0.6, "timing", Phase("timing launches in turn", longest_s, on_timeout=ON_TIMEOUT))
        self._window.begin()
        for place in turns([one.table.batches for one in ready]):
            one = ready[place]
            self._reporter.send(AtStake((one.task.number,)))
            began = time.perf_counter()
            try:
                with named_failures(f"kernel `{one.task.kernel.name}`"):
                    one.batches.append(time_batch(one.placed, one.table, self._pace.time_us))
            except MeasureError as error:
                self._reporter.send(Outcome(one.task.number, error))
                del ready[place]
                self._put_back(ready, waiting)
                return
            one.spent_s += time.perf_counter() - began
            if len(ready) == 1:
                time.sleep(PAUSE_S)
        others = self._window.end()
        self._supply.give_back()
        for one in ready:
            timing = _summary(one.batches, others, load_average)
            row = TimedRow(timing, one.was_built, one.ready_s, one.first_s, one.spent_s)
            self._reporter.send(Outcome(one.task.number, row))

    def _put_back(self, ready: list[_Ready], waiting: deque[TimeTask]) -> None:
        """To be prepared once more, in another context: the driver, or what it holds, can no longer be trusted."""
        waiting.extendleft(one.task for one in reversed(ready))
        ready.clear()
        self.open_anew()

    def _prepared(self, task: TimeTask) -> _Ready:
        """Build and allocate what a task needs. Raises MeasureError."""
        began = time.perf_counter()
        request = self._asking.request(task.kernel, task.launch)
        subject = f"kernel `{request.kernel.name}`"
        limits = self._order.limits
        plan = plan_arguments(request.kernel, request.launch, request.source)
        check_memory(plan, memory_limits(self._device))
        building = Phase(subject, limits.build_s, on_crash=ON_COMPILER_CRASH)
        self._reporter.begin(0.0, "loading", building)
        with named_failures(subject):
            source = (request.source, request.path, request.launch.options)
            was_built = self._shelf.has(*source)
            program = self._shelf.program(*source)
            self._cache.drop_any_size()
            placed = self._placed(self._shelf.kernel(program, request.kernel.name), plan, task, request)
            self._reporter.begin(0.5, "running", Phase(subject, limits.first_run_s, on_timeout=ON_TIMEOUT))
            ready = time.perf_counter()
            first = first_run(placed, self._pace.time_us)
            first_s = time.perf_counter() - ready
            if first.median_us > 1e6 * limits.longest_run_s:
                raise TimedOut(f"{subject} ran {first.median_us / 1e6:.1f} s, longer than {limits.longest_run_s:g} s")
            table = timetable(placed, first, self._pace.time_us)
        spent_s = time.perf_counter() - began
        return _Ready(task, placed, table, was_built, ready - began, first_s, spent_s, list(table.seen))

    def _placed(self, kernel: cl.Kernel, plan: tuple[Argument, ...], task: TimeTask, request: MeasureRequest) -> Placed:
        """With its arguments in several places if these are small. Raises OutOfResources."""
        written = written_buffers(request.kernel)
        buffers_bytes = sum(argument.size_bytes for argument in plan if isinstance(argument, BufferArgument))
        places = [self._supply.take(plan, written) for _ in range(PLACES if buffers_bytes <= SMALL_BYTES else 1)]
        pristine = self._supply.pristine(plan, frozenset(task.kernel.in_place))
        self._queue.finish()
        launch = request.launch
        return Placed(self._queue, kernel, (launch.global_size, launch.local_size), places, pristine)


def _summary(batches: Sequence[QuickBatch], others: Others, load_average: float) -> RowTiming:
    runs = [run for batch in batches for run in batch.runs_us]
    medians_us = tuple(batch.median_us for batch in batches)
    # Each batch counts alike in the median, however few its runs: while others run, that may be beyond the runs' ends.
    median_us = median(medians_us)
    return RowTiming(
        median_us=median_us,
        p10_us=min(quantile(runs, 0.1), median_us),
        p90_us=max(quantile(runs, 0.9), median_us),
        wall_us=median(wall for batch in batches for wall in batch.walls_us),
        runs=len(runs),
        batches_us=medians_us,
        paces_us=tuple(batch.pace_us for batch in batches),
        batch_spread_percent=spread_percent(medians_us),
        other_load_percent=None if others.others is None else 100 * others.others,
        stolen_percent=None if others.stolen is None else 100 * others.stolen,
        is_disturbed=others.is_disturbing,
        load_average=load_average,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
