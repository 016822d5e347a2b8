"""Neovim's remote interface, on which no call waits for ever."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

_LOOK_S = 0.1  # between two looks at why an answer does not come
_GLANCE_S = 3.0  # for the question about the mode, which Neovim answers at once, prompts or not


class NotAnsweredError(AssertionError):
    """Neovim did not answer in time."""


class Refused(Exception):
    """Neovim answered with an error."""


class Connection:
    """Requests and their answers, one at a time.

    At a prompt, `Press ENTER` above all, Neovim keeps every request but a few until a key comes. So while an answer is
    awaited, `meanwhile` is called again and again: it sees that Neovim goes on, or says why not.
    """

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_GLANCE_S)
        self._socket.connect(str(path))
        self._unpacker = msgpack.Unpacker(strict_map_key=False)
        self._last = 0

    def request(self, method: str, *arguments: Any, patience_s: float, meanwhile: Callable[[], None]) -> Any:
        self._last += 1
        self._socket.sendall(msgpack.packb([0, self._last, method, arguments]))
        deadline = time.monotonic() + patience_s
        self._socket.settimeout(_LOOK_S)
        while True:
            for message in self._unpacker:
                if message[0] == 1 and message[1] == self._last:
                    if message[2]:
                        raise Refused(f"{method}: {message[2]}")
                    return message[3]
            if time.monotonic() > deadline:
                raise NotAnsweredError(f"{method} was not answered in {patience_s:.0f} s: {arguments}")
            self._receive(meanwhile)

    def _receive(self, meanwhile: Callable[[], None]) -> None:
        try:
            received = self._socket.recv(1 << 20)
        except TimeoutError:
            return meanwhile()
        if not received:
            raise NotAnsweredError("Neovim has ended")
        return self._unpacker.feed(received)

    def close(self) -> None:
        self._socket.close()


def mode(path: Path) -> dict[str, Any]:
    """Neovim's mode, and whether it waits for a key; over a connection of its own, for another may be waiting."""
    connection = Connection(path)
    with contextlib.closing(connection):
        answer: dict[str, Any] = connection.request("nvim_get_mode", patience_s=_GLANCE_S, meanwhile=lambda: None)
    return answer


def listens(path: Path) -> bool:
    try:
        mode(path)
    except (OSError, NotAnsweredError):
        return False
    return True
