"""Folders of jobs whose server was killed before there was anybody to remove them."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PREFIX = "kernelcast-job-"
NATIVE_OUTPUT = "native-output"
_YOUNG_S = 5.0  # a folder is made before it is claimed


def claim(native_output: IO[bytes]) -> None:
    """Its folder is in use until this file is closed here and in every process that was started with it."""
    with contextlib.suppress(OSError):  # not every file system locks
        fcntl.flock(native_output, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_leftovers(base: str) -> None:
    """Those in `base` that nobody claims any more."""
    for file in _old_ones(Path(base)):
        with contextlib.suppress(OSError), file.open("rb") as output:
            fcntl.flock(output, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(file.parent, ignore_errors=True)


def _old_ones(base: Path) -> Iterator[Path]:
    for file in base.glob(f"{PREFIX}*/{NATIVE_OUTPUT}"):
        with contextlib.suppress(OSError):
            if abs(time.time() - file.stat().st_mtime) > _YOUNG_S:
                yield file
