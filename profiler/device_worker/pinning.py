"""One processor for each of PoCL's threads, also where this process may use only some of the machine's.

PoCL pins its thread i to processor i (POCL_AFFINITY=1), whatever the process is allowed: under `taskset -c 2,3` it runs
on processors that it was told to leave alone, and in a container with a set of processors of its own (a cgroup cpuset)
it aborts. There we limit the number of its threads and pin them ourselves. Source: `pocl_pthread_driver_thread` in
PoCL 3.0, lib/CL/devices/pthread/pthread_scheduler.c.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path

from profiler.device_worker.processors import allowed_processors, processor_quota

AFFINITY = "POCL_AFFINITY"
MOST_THREADS = "POCL_MAX_PTHREAD_COUNT"
TASKS = Path("/proc/self/task")


@contextmanager
def pinned_drivers() -> Iterator[None]:
    """Inside it, PoCL starts its threads: as many as there are processors for us, each on one of its own.

    Whoever sets POCL_AFFINITY=0 gets threads that roam.
    """
    allowed, processors = allowed_processors(), os.cpu_count() or 1
    most = threads_for(len(allowed) or processors, processor_quota())
    if most < processors:
        os.environ.setdefault(MOST_THREADS, str(most))
    if os.environ.get(AFFINITY) != "1" or pocl_may_pin(allowed, min(most, processors)):
        yield
        return
    os.environ[AFFINITY] = "0"
    before = _threads()
    yield
    pin(_threads() - before, allowed)


def threads_for(processors: int, quota: float | None) -> int:
    """Return one for each processor; no more than a quota feeds, or all would be halted a part of the time."""
    return processors if quota is None else max(1, min(processors, int(quota)))


def pocl_may_pin(allowed: Set[int], threads: int) -> bool:
    """Return whether the first processors, as many as PoCL starts threads, are ours. Empty: the system cannot tell."""
    return not allowed or allowed >= set(range(threads))


def pin(threads: Set[int], allowed: Set[int]) -> None:
    """In turn, so that with as many threads as processors each has its own."""
    places = sorted(allowed)
    for at, thread in enumerate(sorted(threads)):
        with suppress(OSError):  # it has ended meanwhile
            os.sched_setaffinity(thread, {places[at % len(places)]})


def _threads() -> set[int]:
    return {int(entry.name) for entry in TASKS.iterdir()} if TASKS.is_dir() else set()
