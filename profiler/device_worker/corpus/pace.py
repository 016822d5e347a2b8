"""How fast the processors are just now.

Two processors of a cloud machine may be the two halves of one core, the other half of which belongs to another guest.
While that works, code that keeps a core busy by itself takes up to twice as long, and no counter of this machine tells.
So a fixed piece of such work, a hash, runs before and after each batch, and its time is kept beside the batch's.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import harmonic_mean

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
    """Of processor time, so that neither Python's lock nor another thread of this machine counts."""
    began = time.thread_time()
    hashlib.blake2b(WORK).digest()
    return (time.thread_time() - began) * 1e6
