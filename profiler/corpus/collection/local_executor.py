"""The local machine as a workplace: builds on all processors, then timings with nothing else of ours running."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from profiler.corpus.collection.devices import processor_slots
from profiler.corpus.collection.jobs import run_tasks
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import RowKey
from profiler.corpus.collection.workplace import DueOn, OnBuilt, OnTimed, launch_of, portions
from profiler.corpus.collection_jobs import BuildOrder, BuildTask, BuiltKernel, TimeOrder, TimeTask
from profiler.corpus.kernel import CorpusDevice, CorpusKernel
from profiler.process.worker import CancelToken

FEWEST_TASKS = 40  # for which it is worth to start a process
PARTS_EACH = 3  # for each of several processes side by side, so that they end at about the same time


class Here:
    """Owns the folder of compiled code, which lasts for one chunk."""

    def __init__(self, folder: Path, plan: CollectPlan, cancel: CancelToken | None = None) -> None:
        self._caches = folder / "caches"
        self._plan = plan
        self._cancel = cancel
        self.end_chunk()  # what a killed collection left may be half of something

    def build(self, due: Sequence[DueOn], on_built: OnBuilt) -> None:
        """Build for all platforms on all processors, one platform after the other.

        What one platform shows of a launch need not be shown again by the next.
        """
        shown: dict[tuple[str, str], str] = {}

        def hear(device: CorpusDevice, kernel: CorpusKernel, outcome: object) -> None:
            if isinstance(outcome, BuiltKernel):
                words = zip(kernel.launches, outcome.checked, strict=False)
                shown.update({(kernel.id, each.launch.key): word for each, word in words if word})
            on_built(device, kernel, outcome)

        works = []
        for one in due:
            kernels = one.kernels_with_due_launches()
            size = max(1, min(self._plan.build_tasks, -(-len(kernels) // self._plan.builders)))
            works += [
                partial(self._build, one, kernels[at : at + size], shown, hear) for at in range(0, len(kernels), size)
            ]
        with ThreadPoolExecutor(self._plan.builders, "builds") as threads:
            _all_done(threads, works)

    def _build(
        self, one: DueOn, kernels: Sequence[CorpusKernel], shown: Mapping[tuple[str, str], str], on_built: OnBuilt
    ) -> None:
        plan, device_id = self._plan, one.device.device_id
        cache = str(self._cache(device_id))
        run_tasks(
            plan.build_job,
            lambda tasks: BuildOrder(device_id, cache, tasks, plan.limits),
            [BuildTask(number, _as_shown(kernel, shown), proves=True) for number, kernel in enumerate(kernels)],
            lambda task, outcome: on_built(one.device, task.kernel, outcome),
            limits=plan.limits,
            cancel=self._cancel,
        )

    def time(self, due: Sequence[DueOn], on_built: OnBuilt, on_timed: OnTimed) -> None:
        """Whole devices in turn; then those of few processors side by side."""
        for one in due:
            if one.device.processors is None:
                for keys in portions(one.keys, self._plan.time_tasks):
                    self._time(one, keys, (), on_timed)
        limited = [one for one in due if one.device.processors is not None]
        for processors in sorted({one.device.processors or 1 for one in limited}):
            self._time_side_by_side(
                [one for one in limited if one.device.processors == processors], processors, on_timed
            )

    def _time_side_by_side(self, due: Sequence[DueOn], processors: int, on_timed: OnTimed) -> None:
        slots = processor_slots(processors, self._plan.side_by_side)
        free: SimpleQueue[tuple[int, ...]] = SimpleQueue()
        for slot in slots:
            free.put(slot)

        def time(one: DueOn, keys: Sequence[RowKey]) -> None:
            slot = free.get()
            try:
                self._time(one, keys, slot, on_timed)
            finally:
                free.put(slot)

        with ThreadPoolExecutor(len(slots), "times") as threads:
            rows = sum(len(one.keys) for one in due)
            most = min(self._plan.time_tasks, max(FEWEST_TASKS, rows // (PARTS_EACH * len(slots))))
            parts = [(one, keys) for one in due for keys in portions(one.keys, most)]
            _all_done(threads, [partial(time, one, keys) for one, keys in parts])

    def _time(self, one: DueOn, keys: Sequence[RowKey], processors: tuple[int, ...], on_timed: OnTimed) -> None:
        plan = self._plan
        cache = str(self._cache(one.device.device_id))
        bare = {key.kernel_id: replace(one.kernels[key.kernel_id], launches=()) for key in keys}
        run_tasks(
            plan.time_job,
            lambda tasks: TimeOrder(one.device, processors, cache, tasks, plan.limits, plan.in_turn),
            [
                TimeTask(number, bare[key.kernel_id], launch_of(one.kernels[key.kernel_id], key))
                for number, key in enumerate(keys)
            ],
            lambda task, outcome: on_timed(keys[task.number], outcome),
            limits=plan.limits,
            cancel=self._cancel,
        )

    def end_chunk(self) -> None:
        """Remove what was compiled for the chunk."""
        shutil.rmtree(self._caches, ignore_errors=True)

    def _cache(self, device_id: str) -> Path:
        folder = self._caches / device_id
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _as_shown(kernel: CorpusKernel, shown: Mapping[tuple[str, str], str]) -> CorpusKernel:
    launches = (
        replace(each, checked=shown.get((kernel.id, each.launch.key), each.checked)) for each in kernel.launches
    )
    return replace(kernel, launches=tuple(launches))


def _all_done(threads: ThreadPoolExecutor, works: Sequence[Callable[[], None]]) -> None:
    """Wait for all; the first failure ends the wait, and what has not begun does not begin."""
    futures = [threads.submit(work) for work in works]
    done, waiting = wait(futures, return_when=FIRST_EXCEPTION)
    for future in waiting:
        future.cancel()
    for future in done:
        future.result()
