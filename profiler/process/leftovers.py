"""Folders of device processes whose whole family was killed at once, so that nobody was left to remove them.

A folder in use is locked by the process that made it; the system lets go of the lock however that process ends.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "kernelcast-job-"
_LOCK = "in-use"
_UNLOCKED_S = 3600.0  # a folder without a lock that is younger may be about to get one


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Meanwhile nobody takes `folder` for a leftover. A child does not inherit this."""
    if sys.platform == "win32":
        yield
        return
    lock = -1
    with contextlib.suppress(OSError):  # without room on the disk the job fails by itself, and says why
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if lock >= 0:
            os.close(lock)


@functools.cache
def sweep_once(base: str) -> None:
    """At the first job of this process."""
    sweep(Path(base))


def sweep(base: Path) -> None:
    """Remove what killed processes of this user left in `base`. Nothing that fails here is worth a word."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        for folder in base.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if _is_leftover(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_leftover(folder: Path) -> bool:
    found = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or found.st_uid != os.getuid():
        return False
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - found.st_mtime > _UNLOCKED_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
