"""One collection at a time in one folder."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model.errors import KernelcastError

FILE_NAME = "collecting.lock"


class AlreadyCollecting(KernelcastError):
    """Another collection works in this folder."""

    code = "collecting"


@contextmanager
def sole_collector(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises AlreadyCollecting.

    The system frees the lock however the process ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE_NAME).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyCollecting(
                f"another collection works in {folder}; wait for it, end it, or name another folder with --workdir"
            ) from None
        yield
