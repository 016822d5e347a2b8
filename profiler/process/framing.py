"""Messages of a device process, read from its pipe without ever waiting for the rest of one.

Each has its length before it and a mark before that, so that what a driver writes into the pipe by mistake is noticed.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
from typing import IO

from profiler.measurement import MeasureError
from profiler.process.messages import Message

_HEADER = struct.Struct("<4sI")
_MARK = b"\x00kc\x01"
MOST_BYTES = 256 * 1024 * 1024  # of one message
_CHUNK_BYTES = 1024 * 1024


def packed(message: Message) -> bytes:
    """Return a message as it goes through the pipe."""
    payload = pickle.dumps(message)
    return _HEADER.pack(_MARK, len(payload)) + payload


class Inbox:
    """Owns what has come of a message that is not whole yet. POSIX alone, as device processes are."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._number = pipe.fileno()
        self._poll = select.poll()
        self._poll.register(self._number, select.POLLIN)
        self._bytes = bytearray()
        self.has_ended = False
        self.is_quiet = False  # nothing came in the last wait, not even a part of a message

    def wait(self, timeout_s: float) -> list[Message]:
        """Return the messages that come in this time, without waiting for more than one.

        Never takes in more than a chunk at once: who sends without end is stopped by the pipe, and the caller can
        look at its clock. Raises MeasureError for what is no message.
        """
        self.is_quiet = not self._poll.poll(timeout_s * 1000)
        if self.is_quiet:
            return []
        chunk = os.read(self._number, _CHUNK_BYTES)
        self.has_ended = not chunk
        self._bytes += chunk
        return self._whole_messages()

    def _whole_messages(self) -> list[Message]:
        found: list[Message] = []
        start = 0
        while len(self._bytes) - start >= _HEADER.size:
            mark, length = _HEADER.unpack_from(self._bytes, start)
            if mark != _MARK or length > MOST_BYTES:
                raise _garbled(bytes(self._bytes[start : start + 40]))
            end = start + _HEADER.size + length
            if len(self._bytes) < end:
                break
            found.append(_unpickled(bytes(self._bytes[start + _HEADER.size : end])))
            start = end
        del self._bytes[:start]
        return found


def _unpickled(payload: bytes) -> Message:
    try:
        message: Message = pickle.loads(payload)
    except Exception:  # noqa: BLE001 - spoilt pickles raise whatever the spoilt bytes happen to call
        raise _garbled(payload[:40]) from None
    return message


def _garbled(what: bytes) -> MeasureError:
    return MeasureError(
        f"the device process sent something that is not a message ({what!r}); "
        "most likely its driver, or the kernel, wrote where it must not"
    )
