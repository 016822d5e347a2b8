"""What else the machine was doing while a batch ran, as far as the system tells (Linux)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from profiler.batches import Load

STAT = Path("/proc/stat")
TASKS = Path("/proc/self/task")
OWN_STATISTICS = Path("/proc/self/schedstat")
IDLE, IOWAIT, STEAL = 3, 4, 7  # columns of /proc/stat; those after them are counted under user, too


@dataclass(frozen=True, slots=True)
class _Reading:
    at_s: float
    ran_s: float
    waits_ns: dict[str, int] | None  # by thread
    busy_s: float | None  # of all processors together, what was stolen included
    stolen_s: float


class LoadWatch:
    """Owns the readings at a batch's begin. Where the device is no CPU, others on the processors are no disturbance."""

    def __init__(self, *, is_cpu: bool = True) -> None:
        self._processors = os.cpu_count() or 1
        self._is_cpu = is_cpu
        self._begun = _read()

    def begin(self) -> None:
        self._begun = _read()

    def end(self) -> Load:
        """Return what happened since `begin`."""
        before, now = self._begun, _read()
        ran_s = now.ran_s - before.ran_s
        waited_s = others_s = None
        if now.waits_ns is not None and before.waits_ns is not None:
            # A thread that ended meanwhile takes its figure with it.
            waited_s = sum(ns - before.waits_ns.get(task, 0) for task, ns in now.waits_ns.items()) / 1e9
        if now.busy_s is not None and before.busy_s is not None:
            others_s = now.busy_s - before.busy_s - ran_s
        elapsed_s, stolen_s = now.at_s - before.at_s, now.stolen_s - before.stolen_s
        return Load(elapsed_s, self._processors, ran_s, waited_s, others_s, stolen_s, self._is_cpu)


def _read() -> _Reading:
    own = os.times()
    busy_s, stolen_s = _busy_and_stolen_s()
    return _Reading(time.perf_counter(), own.user + own.system, _waits_ns(), busy_s, stolen_s)


def _waits_ns() -> dict[str, int] | None:
    """Return how long each of our threads has waited for a processor.

    Source: Linux, Documentation/scheduler/sched-stats.
    """
    if not OWN_STATISTICS.exists():  # a kernel without CONFIG_SCHED_INFO
        return None
    waits = {}
    for entry in TASKS.iterdir():
        try:
            waits[entry.name] = int((entry / "schedstat").read_text("ascii").split()[1])
        except (OSError, IndexError):  # it has just ended
            continue
    return waits


def _busy_and_stolen_s() -> tuple[float | None, float]:
    """Time that all processors together have been busy or away; and away, given to others by their hypervisor."""
    try:
        columns = [int(text) for text in STAT.read_text("ascii").split("\n", 1)[0].split()[1:]]
    except (OSError, ValueError):
        return None, 0.0
    counted = columns[: STEAL + 1]
    ticks_a_second = os.sysconf("SC_CLK_TCK")
    stolen = counted[STEAL] if len(counted) > STEAL else 0
    return (sum(counted) - counted[IDLE] - counted[IOWAIT]) / ticks_a_second, stolen / ticks_a_second
