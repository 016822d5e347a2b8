"""Requests to a process that answers one at a time: the newest of each document waits, the one put last goes first."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Request = TypeVar("_Request")


class RequestQueue(Generic[_Request]):
    """Safe for all threads. `changed` guards the queue, and whatever its owner keeps beside it.

    The thread `name` runs `work` from the first request on. `news` hears on the event loop for whom there is an answer.
    """

    def __init__(self, work: Callable[[], None], name: str, news: Callable[[str], None]) -> None:
        self.changed = threading.Condition()
        self.waiting: dict[str, _Request] = {}
        self.is_stopped = False
        self._work, self._name, self._news = work, name, news
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Remember the event loop; to be called from it."""
        self._loop = asyncio.get_running_loop()

    def put(self, uri: str, request: _Request) -> None:
        """Have this answered for `uri`, in place of what still waits for it. Hold `changed`."""
        self.waiting.pop(uri, None)
        self.waiting[uri] = request
        self.changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def take(self) -> _Request | None:
        """Return the request that was put last; None if there is none. Hold `changed`."""
        return self.waiting.popitem()[1] if self.waiting else None

    def forget(self, uri: str) -> None:
        """Drop what waits for a document that was closed."""
        with self.changed:
            self.waiting.pop(uri, None)

    def stop(self) -> None:
        """Wake the thread for the last time. Hold `changed`."""
        self.is_stopped = True
        self.changed.notify_all()

    def tell(self, uri: str) -> None:
        """Let the event loop know that there is an answer for `uri`."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server is leaving
                self._loop.call_soon_threadsafe(self._news, uri)
