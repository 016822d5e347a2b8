"""Jobs that answer at once with made-up figures, as a device process of the collection would.

What a kernel's name says happens: `crash` ends the process, `crash_once` does so the first time, `refuse` does not
build, `busy` was disturbed, `kill_worker` ends the process that started this one.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from model.compiled import CompiledFacts
from profiler.corpus.collection_jobs import BuildOrder, BuiltKernel, BuiltVariant, TimedRow, TimeOrder
from profiler.corpus.kernel import CorpusKernel, RowTiming
from profiler.measurement import BuildFailed, DeviceGone, OutOfResources
from profiler.process.messages import AtStake, Outcome

FOLDER = "KERNELCAST_TEST_FOLDER"
TIMED = "timed.txt"  # each timing that was begun, a line each


def build(order: BuildOrder, reporter: Any) -> None:
    for task in order.tasks:
        reporter.send(AtStake((task.number,)))
        if "refuse" in task.kernel.name:
            reporter.send(Outcome(task.number, BuildFailed("it does not build")))
            continue
        places = tuple(range(len(task.kernel.launches)))
        facts = CompiledFacts(task.kernel.name, task.kernel.id, "", None, order.device_id, "stub", "1", "2026-01-01")
        built = BuiltKernel((BuiltVariant(places, facts),), ("guard pages",) * len(places), (), 0.0)
        reporter.send(Outcome(task.number, built))


def time(order: TimeOrder, reporter: Any) -> None:
    for task in order.tasks:
        reporter.send(AtStake((task.number,)))
        _befall(task.kernel)
        _note(f"{order.device.id} {task.kernel.id} {task.launch.launch.key}")
        is_busy = "busy" in task.kernel.name
        timing = RowTiming(
            10.0,
            9.0,
            11.0,
            12.0,
            5,
            (10.0,) * 3,
            (40.0,) * 3,
            1.0,
            50.0 if is_busy else 0.0,
            0.0,
            is_busy,
            0.1,
            "2026-01-01",
        )
        reporter.send(Outcome(task.number, timed_row(timing)))


def no_device(_order: object, _reporter: Any) -> None:
    raise DeviceGone("the card fell off the bus")


def no_room(order: TimeOrder, reporter: Any) -> None:
    for task in order.tasks:
        reporter.send(Outcome(task.number, OutOfResources("no room")))


def timed_row(timing: RowTiming) -> TimedRow:
    return TimedRow(timing, was_built=True, ready_s=0.0, first_s=0.0, spent_s=0.0)


def _befall(kernel: CorpusKernel) -> None:
    if "kill_worker" in kernel.name:
        os.kill(os.getppid(), signal.SIGKILL)
    if "crash" not in kernel.name:
        return
    if "once" in kernel.name:
        try:
            (Path(os.environ[FOLDER]) / f"{kernel.id}.crashed").touch(exist_ok=False)
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGSEGV)


def _note(line: str) -> None:
    if FOLDER in os.environ:
        with (Path(os.environ[FOLDER]) / TIMED).open("a") as file:
            file.write(line + "\n")
