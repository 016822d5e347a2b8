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

AFFINITY = "POCL_AFFINITY"
MOST_THREADS = "POCL_MAX_PTHREAD_COUNT"
TASKS = Path("/proc/self/task")


@contextmanager
def pinned_drivers() -> Iterator[None]:
    """Inside it, PoCL starts its threads: as many as there are processors allowed, each on one of its own.

    Whoever sets POCL_AFFINITY=0 gets threads that roam.
    """
    allowed = allowed_processors()
    if os.environ.get(AFFINITY) != "1" or pocl_may_pin(allowed, os.cpu_count() or 1):
        yield
        return
    os.environ[AFFINITY] = "0"
    os.environ.setdefault(MOST_THREADS, str(len(allowed)))
    before = _threads()
    yield
    pin(_threads() - before, allowed)


def pocl_may_pin(allowed: Set[int], processors: int) -> bool:
    """Whether the first processors, as many as PoCL starts threads, are ours to use. Empty: the system cannot tell."""
    return not allowed or allowed >= set(range(processors))


def pin(threads: Set[int], allowed: Set[int]) -> None:
    """In turn, so that with as many threads as processors each has its own."""
    places = sorted(allowed)
    for at, thread in enumerate(sorted(threads)):
        with suppress(OSError):  # it has ended meanwhile
            os.sched_setaffinity(thread, {places[at % len(places)]})


def allowed_processors() -> frozenset[int]:
    """Those that this process may use; empty where the system cannot tell (macOS, Windows)."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def _threads() -> set[int]:
    return {int(entry.name) for entry in TASKS.iterdir()} if TASKS.is_dir() else set()
