"""Files that a workspace names, read without trusting them: none may hang the reader, or be larger than it should."""

from __future__ import annotations

import os
import stat
from pathlib import Path

# Pipes, terminals and files such as /proc/kmsg would be waited for for ever, and some of them claim to be empty.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 1 << 20
_LONGEST_PATH = 4096  # of Linux; others open less


def can_be_opened(path: str) -> bool:
    """Return whether a system would look for it at all. Others are not worked on: long ones take time by the square."""
    return len(path) <= _LONGEST_PATH and "\0" not in path


class TooLarge(OSError):
    """It holds more than was asked for."""


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Return what a plain file holds. Raises `TooLarge`, and OSError for what is none or does not answer at once."""
    number = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(f"{path} is not a regular file")
        chunks: list[bytes] = []
        left = most_bytes + 1
        while left > 0 and (chunk := os.read(number, min(left, _CHUNK_BYTES))):
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(number)
    if left <= 0:
        raise TooLarge(f"{path} is larger than {most_bytes} bytes")
    return b"".join(chunks)
