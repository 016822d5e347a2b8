"""A disk that is really full: a small file system of its own for the store, where this process may mount one."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SIZE_BYTES = 1 << 20


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount it at `folder`; where that is not allowed, `is_small_disk` tells."""
    folder.mkdir(exist_ok=True)
    with suppress(OSError, subprocess.CalledProcessError):
        options = ["-t", "tmpfs", "-o", f"size={_SIZE_BYTES}"]
        subprocess.run(["mount", *options, "tmpfs", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        if is_small_disk(folder):
            subprocess.run(["umount", "--lazy", folder], check=True)


def is_small_disk(folder: Path) -> bool:
    facts = os.statvfs(folder)
    return os.path.ismount(folder) and facts.f_blocks * facts.f_frsize <= _SIZE_BYTES


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody can write there; root can unless it is a `small_disk`."""
    is_disk = is_small_disk(folder)

    def make(mode: str, bits: int) -> None:
        if is_disk:
            subprocess.run(["mount", "-o", f"remount,{mode}", folder], check=True, capture_output=True)
        else:
            folder.chmod(bits)

    make("ro", 0o555)
    try:
        yield
    finally:
        make("rw", 0o755)


@contextmanager
def filled(folder: Path, free_bytes: int) -> Iterator[None]:
    """Leave no more than this free on the disk of `folder`."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            _write_to_the_end(file.fileno())
            file.truncate(file.tell() - free_bytes)
        yield
    finally:
        filler.unlink()


def _write_to_the_end(file: int) -> None:
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
