"""What others did to the processors of a timed launch, over windows as long as the system needs to count, and the pace.

The system counts processor time in steps of 10 ms, and most launches are timed in little more than that. So what is
told of one launch covers the launches just before it, too, as far back as a window needs.

Two processors of a cloud machine may be the two halves of one core, the other half of which belongs to another guest.
While that works, code that keeps a core busy by itself takes up to twice as long, and no counter of this machine tells.
So a fixed piece of such work, a hash, runs before and after each batch; its time is kept beside the batch's, as pace.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import harmonic_mean

from profiler.batches import DISTURBED_OTHERS, DISTURBED_STOLEN
from profiler.device_worker.machine_load import STAT

WINDOW_S = 0.3
IDLE, IOWAIT, STEAL = 3, 4, 7  # columns of /proc/stat; those after them are counted under user, too


@dataclass(frozen=True, slots=True)
class Others:
    """Shares in 0..1 of the processors' time; None where the system does not tell."""

    others: float | None
    stolen: float | None

    @property
    def is_disturbing(self) -> bool:
        return (self.others or 0.0) > DISTURBED_OTHERS or (self.stolen or 0.0) > DISTURBED_STOLEN


@dataclass(frozen=True, slots=True)
class _Reading:
    at_s: float
    ran_s: float  # processor time of this process
    busy_s: float  # of the processors, what was stolen included
    stolen_s: float


class LoadWindow:
    """Owns the readings of late. `processors` are those that count; empty: all of them."""

    def __init__(self, processors: Sequence[int], stat: Path = STAT) -> None:
        self._names = frozenset(f"cpu{number}" for number in processors) or frozenset({"cpu"})
        self._count = len(processors) or os.cpu_count() or 1
        self._stat = stat
        self._readings: deque[_Reading] = deque()
        self.begin()

    def begin(self) -> None:
        """Read the load at the beginning of a launch's timing."""
        reading = self._read()
        if reading is not None:
            self._readings.append(reading)

    def end(self) -> Others:
        """Return what others did since `begin`, and before that as far as a window reaches."""
        now = self._read()
        if now is None or not self._readings:
            return Others(None, None)
        # The last reading that is a window old; those before it are of no use any more.
        while len(self._readings) > 1 and now.at_s - self._readings[1].at_s >= WINDOW_S:
            self._readings.popleft()
        before = self._readings[0]
        available_s = (now.at_s - before.at_s) * self._count
        if available_s <= 0:
            return Others(None, None)
        stolen_s = now.stolen_s - before.stolen_s
        others_s = (now.busy_s - before.busy_s) - (now.ran_s - before.ran_s) - stolen_s
        return Others(_share(others_s, available_s), _share(stolen_s, available_s))

    def _read(self) -> _Reading | None:
        try:
            lines = self._stat.read_text("ascii").splitlines()
        except OSError:
            return None
        busy = stolen = 0
        for line in lines:
            name, *columns = line.split()
            if not name.startswith("cpu"):
                break
            if name in self._names:
                counted = [int(column) for column in columns[: STEAL + 1]]
                stolen += counted[STEAL] if len(counted) > STEAL else 0
                busy += sum(counted) - counted[IDLE] - counted[IOWAIT]
        ticks_a_second = os.sysconf("SC_CLK_TCK")
        return _Reading(time.perf_counter(), time.process_time(), busy / ticks_a_second, stolen / ticks_a_second)


def _share(part_s: float, whole_s: float) -> float:
    return min(1.0, max(0.0, part_s / whole_s))


WORK = bytes(1 << 14)  # takes some 30 to 50 us, long enough for the lock of Python to be let go


class Pace:
    """Owns a thread on each of `processors`; empty: on all that this process may use."""

    def __init__(self, processors: Sequence[int]) -> None:
        self._threads = [
            ThreadPoolExecutor(1, "pace", initializer=os.sched_setaffinity, initargs=(0, {number}))
            for number in processors or sorted(os.sched_getaffinity(0))
        ]

    def time_us(self) -> float:
        """Return what the work takes, all processors at it at once: by the rate that they have together."""
        if len(self._threads) == 1:
            return _work_us()  # this thread is on it already
        times = [each.submit(_work_us) for each in self._threads]
        return harmonic_mean([each.result() for each in times])


def _work_us() -> float:
    """Return the processor time of a fixed piece of work [us]: waiting for Python's lock or a processor is not part."""
    began = time.thread_time()
    hashlib.blake2b(WORK).digest()
    return (time.thread_time() - began) * 1e6
