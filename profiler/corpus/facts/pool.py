"""Work on thousands of kernels, shared out between processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import TypeVar

_AT_A_TIME = 8
_EVERY = 500  # kernels between words of progress
Job = TypeVar("Job")
Done = TypeVar("Done")


def parallel_map(
    work: Callable[[Job], Done], jobs: Sequence[Job], processes: int, say: Callable[[str], None], done: str
) -> Iterator[Done]:
    """Yield what `work` gives for each kernel, in no order; `done` is what to say of those that are."""
    # Forked processes could hold locks of threads that they do not have. Each is replaced now and then: what analyses
    # of thousands of kernels keep adds up.
    with get_context("spawn").Pool(processes, maxtasksperchild=50) as pool:
        for number, each in enumerate(pool.imap_unordered(work, jobs, chunksize=_AT_A_TIME), 1):
            yield each
            if number % _EVERY == 0:
                say(f"{number} of {len(jobs)} kernels are {done}")
