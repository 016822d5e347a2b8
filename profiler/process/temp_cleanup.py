"""Folders of jobs whose whole family was killed at once, so that nobody was left to remove them.

A folder in use is locked; the system lets go of the lock however the processes that hold it end. Others may write to
where these folders lie: nothing of theirs is followed, waited for or removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

PREFIX = "kernelcast-job-"
NATIVE_OUTPUT = "native-output"
_YOUNG_S = 5.0  # the file is made before it is claimed
_EMPTY_S = 3600.0  # and the folder before the file


def claim(native_output: IO[bytes]) -> None:
    """Its folder is in use until this file is closed here and in every process that was started with it."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # not every file system locks
            fcntl.flock(native_output, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_leftovers(base: str) -> None:
    """Those of this user in `base` that nobody claims any more. Nothing that fails here is worth a word."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        for folder in Path(base).glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    found = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or found.st_uid != os.getuid():
        return
    try:
        number = os.open(folder / NATIVE_OUTPUT, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if abs(time.time() - found.st_mtime) > _EMPTY_S:
            shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        if abs(time.time() - os.fstat(number).st_mtime) > _YOUNG_S:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(number)
