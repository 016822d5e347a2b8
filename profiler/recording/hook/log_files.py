"""The two files that a process writes: lines of JSON, and counts in mapped memory.

Each line is one write, so a crash loses nothing. After a fork the child begins a pair of its own.
"""

from __future__ import annotations

import atexit
import glob
import hashlib
import json
import mmap
import os
import struct
import sys
import time
from typing import Any, Callable

VERSION = 1
SLOT = struct.Struct("<QQ3d27d")
_HEAD = struct.Struct("<QQ3d")
_COUNT = struct.Struct("<Q")
_SAMPLES_AT = _HEAD.size
_SAMPLES = 27
_GROWTH_SLOTS = 1024


class LogFiles:
    """Owns the pair of files. Nothing is made before there is something to write."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.on_fork: list[Callable[[], None]] = []
        self._forget()
        os.register_at_fork(after_in_child=self._in_child)
        atexit.register(self._end)

    def _forget(self) -> None:
        self._lines = -1
        self._counts_file = -1
        self._counts: mmap.mmap | None = None
        self._slots = 0
        self._is_silent: bool | None = None
        self._written: set[str] = set()
        self._random = os.getpid() or 1

    def _in_child(self) -> None:
        """Begin anew: the parent goes on with its files."""
        counts, files = self._counts, (self._lines, self._counts_file)
        self._forget()
        if counts is not None:
            counts.close()
        for each in files:
            if each >= 0:
                os.close(each)
        for begin_anew in self.on_fork:
            begin_anew()

    @property
    def is_silent(self) -> bool:
        """Whether the OpenCL layer records this process already: then nothing is written here."""
        if self._is_silent is None:
            self._is_silent = self._layer_writes()
            if not self._is_silent:
                self._open()
        return self._is_silent

    @property
    def is_known_silent(self) -> bool:
        """Whether it is known already that the layer records; the disk is not asked."""
        return self._is_silent is True

    def line(self, entry: dict[str, Any]) -> None:
        if self.is_silent:
            return
        os.write(self._lines, (json.dumps(entry) + "\n").encode("utf-8", "surrogateescape"))

    def problem(self, message: str) -> None:
        """Say once what could not be recorded."""
        if message not in self._written:
            self._written.add(message)
            self.line({"record": "problem", "message": message})

    def source(self, text: bytes) -> tuple[str, str]:
        """Keep a program's text beside the lines; return its file's name and its hash."""
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
        """Write down that `launch` was enqueued `number` times up to now."""
        if self._counts is None or launch >= self._slots:
            self._grow(launch)
        _COUNT.pack_into(self._counts, launch * SLOT.size, number)  # type: ignore[arg-type]

    def timed(self, launch: int, us: float) -> None:
        """Add the time of one launch to its slot."""
        counts = self._counts
        if counts is None or launch >= self._slots:
            return
        at = launch * SLOT.size
        number, timed, total, least, most = _HEAD.unpack_from(counts, at)
        place = timed
        if timed >= _SAMPLES:  # each of all times is among the samples with the same probability
            self._random = (self._random * 6364136223846793005 + 1442695040888963407) % 2**64
            place = (self._random >> 33) % (timed + 1)
        least, most = (us, us) if not timed else (min(least, us), max(most, us))
        _HEAD.pack_into(counts, at, number, timed + 1, total + us, least, most)
        if place < _SAMPLES:
            struct.pack_into("<d", counts, at + _SAMPLES_AT + 8 * place, us)

    def name(self) -> tuple[int, int]:
        """Return the process and the number that tell this pair of files from others."""
        return self._pid, self._number

    def _grow(self, launch: int) -> None:
        while launch >= self._slots:
            self._slots += _GROWTH_SLOTS
        os.ftruncate(self._counts_file, self._slots * SLOT.size)
        if self._counts is not None:
            self._counts.close()
        self._counts = mmap.mmap(self._counts_file, self._slots * SLOT.size)

    def _layer_writes(self) -> bool:
        for path in glob.glob(os.path.join(glob.escape(self._folder), f"{os.getpid()}-*.jsonl")):
            with open(path, "rb") as file:
                if b'"layer"' in file.readline():
                    return True
        return False

    def _open(self) -> None:
        self._pid, number = os.getpid(), 0
        while True:
            stem = os.path.join(self._folder, f"{self._pid}-{number}")
            try:
                self._lines = os.open(f"{stem}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
                break
            except FileExistsError:
                number += 1
        self._number = number
        self._counts_file = os.open(f"{stem}.counts", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        command = [os.fspath(word) for word in getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv]]
        self.line(
            {
                "record": "process",
                "version": VERSION,
                "pid": self._pid,
                "writer": "pyopencl",
                "command": command,
                "cwd": os.getcwd(),
                "started_at": time.time(),
            }
        )

    def _end(self) -> None:
        if self._lines >= 0:
            self.line({"record": "end", "at": time.time()})
