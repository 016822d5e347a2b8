"""Write the two files of a process: lines of JSON, and counts in mapped memory.

Each line is one write, so a crash loses nothing. After a fork the child starts its own pair. No file stays open: the
program may close all descriptors and get one of ours for a file of its own.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import mmap
import os
import struct
import threading
import time
from typing import Any, Callable

VERSION = 1
SLOT = struct.Struct("<QQd29d")
_HEAD = struct.Struct("<QQd")
_COUNT = struct.Struct("<Q")
_SAMPLES_AT = _HEAD.size
_SAMPLES = 29
_STEP_SLOTS = 1024
_STEP_BYTES = _STEP_SLOTS * SLOT.size


class LogFiles:
    """Owns the pair of files. They are created when there is something to write."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.on_fork: list[Callable[[], None]] = []
        self._forget()
        os.register_at_fork(after_in_child=self._in_child)

    def _forget(self) -> None:
        self._opening = threading.Lock()
        self._stem = ""
        self._steps: list[mmap.mmap] = []
        self._is_silent: bool | None = None
        self._written: set[str] = set()
        self._random = os.getpid() or 1

    def _in_child(self) -> None:
        """Start anew: the parent goes on with its files."""
        self._forget()
        for begin_anew in self.on_fork:
            begin_anew()

    @property
    def is_silent(self) -> bool:
        """Whether nothing is written: the OpenCL layer records this process, or the recording's folder is gone."""
        if self._is_silent is None:
            with self._opening:
                self._begin()
        return self._is_silent is True

    @property
    def is_known_silent(self) -> bool:
        """Whether nothing is written, as far as that is known without asking the disk."""
        return self._is_silent is True

    def line(self, entry: dict[str, Any]) -> None:
        if not self.is_silent:
            self._write(entry)

    def _write(self, entry: dict[str, Any]) -> None:
        with open(f"{self._stem}.jsonl", "ab", buffering=0) as file:
            file.write((json.dumps(entry) + "\n").encode("utf-8", "surrogateescape"))

    def problem(self, message: str, error: Exception | None = None) -> None:
        """Write once what could not be recorded."""
        if error is not None:  # not its `repr`, which may hold an address that differs each time
            message = f"{message}: {type(error).__name__}: {error}"
        if message not in self._written:
            self._written.add(message)
            with contextlib.suppress(OSError):  # as where the disk is full
                self.line({"record": "problem", "message": message})

    def source(self, text: bytes) -> tuple[str, str]:
        """Keep a program's text beside the log; return its file's name and its hash."""
        digest = hashlib.sha256(text).hexdigest()
        name = f"program-{digest}.cl"
        path = os.path.join(self._folder, name)
        if not self.is_silent and name not in self._written:
            self._written.add(name)
            if not os.path.exists(path):
                temporary = f"{path}.{os.getpid()}"
                with open(temporary, "wb") as file:
                    file.write(text)
                os.replace(temporary, path)
        return name, digest

    def count(self, launch: int, number: int) -> None:
        """Write that `launch` was enqueued `number` times so far."""
        step, at = self._slot(launch)
        _COUNT.pack_into(step, at, number)

    def timed(self, launch: int, us: float) -> None:
        """Add the time of one launch to its slot."""
        step, at = self._slot(launch)
        number, timed, total = _HEAD.unpack_from(step, at)
        place = timed
        if timed >= _SAMPLES:  # each of all times is among the samples with the same probability
            self._random = (self._random * 6364136223846793005 + 1442695040888963407) % 2**64
            place = (self._random >> 33) % (timed + 1)
        _HEAD.pack_into(step, at, number, timed + 1, total + us)
        if place < _SAMPLES:
            struct.pack_into("<d", step, at + _SAMPLES_AT + 8 * place, us)

    def name(self) -> tuple[int, int]:
        """Return process and number, which identify this pair of files."""
        return self._pid, self._number

    def _slot(self, launch: int) -> tuple[mmap.mmap, int]:
        """Return the step of the counts file that has this launch's slot, and where the slot begins in it."""
        number, slot = divmod(launch, _STEP_SLOTS)
        while len(self._steps) <= number:
            self._steps.append(self._mapped(len(self._steps) * _STEP_BYTES))
        return self._steps[number], slot * SLOT.size

    def _mapped(self, begin: int) -> mmap.mmap:
        with open(f"{self._stem}.counts", "r+b" if begin else "w+b") as file:
            os.posix_fallocate(file.fileno(), begin, _STEP_BYTES)  # a hole in the file would be SIGBUS on a full disk
            return mmap.mmap(file.fileno(), _STEP_BYTES, offset=begin)

    def _layer_writes(self) -> bool:
        for path in glob.glob(os.path.join(glob.escape(self._folder), f"{os.getpid()}-*.jsonl")):
            with open(path, "rb") as file:
                if b'"layer"' in file.readline():
                    return True
        return False

    def _begin(self) -> None:
        """Create the log unless this process has one. Another thread may have done so meanwhile."""
        if self._is_silent is not None:
            return
        try:
            self._is_silent = self._layer_writes() or not self._create()
        except OSError:
            self._is_silent = True

    def _create(self) -> bool:
        """Create the log and write the line about the process."""
        self._pid, self._number = os.getpid(), 0
        while not self._stem:
            stem = os.path.join(self._folder, f"{self._pid}-{self._number}")
            try:
                os.close(os.open(f"{stem}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                self._stem = stem
            except FileExistsError:
                self._number += 1
        head = {"record": "process", "version": VERSION, "pid": self._pid, "writer": "pyopencl"}
        self._write({**head, "cwd": os.getcwd(), "started_at": time.time()})
        return True
