"""Workers of one host keep out of each other's timings. The system frees these locks however a worker ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from platformdirs import user_cache_path

from profiler.corpus.collection.devices import processor_slots


@contextmanager
def host_alone() -> Iterator[None]:
    """Meanwhile no other worker of this host builds or times."""
    with _file("host") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def host_shared() -> Iterator[None]:
    """Meanwhile no other worker of this host has it alone."""
    with _file("host") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def own_processors(count: int) -> Iterator[tuple[int, ...]]:
    """So many processors that no other worker of this host uses; without any that are free, some that are not."""
    slots = processor_slots(count, most=1024)
    for slot in slots:
        with _file(f"processors-{count}-from-{min(slot, default=0)}") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield slot
            return
    yield slots[0]


def _file(name: str) -> IO[str]:
    """In a folder of the user's own: in one that all may write to, somebody else's link would be followed."""
    folder = user_cache_path("kernelcast", appauthor=False) / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return (folder / f"cluster-{name}.lock").open("a")
