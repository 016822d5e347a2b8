"""Work-done progress with a cancel button, for clients that have it; silence for the others."""

from __future__ import annotations

import asyncio
import threading
from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from profiler.measurement import Cancelled
from server.text.escaping import message

if TYPE_CHECKING:
    from server.session import KernelcastServer

_numbers = count(1)
_ANSWER_S = 1.0  # a client that does not answer gets no progress bar; the work must not wait for it


class ProgressBar:
    """One piece of work as the user sees it. Pressing cancel sets `cancel`."""

    def __init__(self, server: KernelcastServer, token: types.ProgressToken | None, cancel: threading.Event) -> None:
        self._server = server
        self._token = token
        self.cancel = cancel
        self._pressed = asyncio.Event()
        self._last: tuple[str, int] | None = None

    async def cancelled(self) -> None:
        """Wait until the user presses cancel."""
        await self._pressed.wait()

    def commit(self, text: str) -> None:
        """End the bar, and its button with it: what follows cannot be cancelled. Raises Cancelled if it was pressed."""
        if self.cancel.is_set():
            raise Cancelled("cancelled")
        self.end(text)

    def _press(self) -> None:
        self.cancel.set()
        self._pressed.set()

    @classmethod
    async def begin(cls, server: KernelcastServer, title: str, token: types.ProgressToken | None) -> ProgressBar:
        """Begin a progress report; `token` is the client's own if it sent one with its request."""
        progress = server.work_done_progress
        if token is None and server.supports.progress:
            token = f"kernelcast {next(_numbers)}"  # some editors show it
            try:
                async with asyncio.timeout(_ANSWER_S):
                    await progress.create_async(token)
            except (TimeoutError, JsonRpcException):
                token = None
        if token is not None:
            progress.begin(token, types.WorkDoneProgressBegin(title=message(title), cancellable=True, percentage=0))
        bar = cls(server, token, threading.Event())
        if token is not None:
            progress.tokens[token].add_done_callback(lambda _: bar._press())
        return bar

    def report(self, fraction: float, text: str) -> None:
        if self._token is not None and self._token in self._server.work_done_progress.tokens:
            percentage = min(100, max(0, round(fraction * 100)))
            if (text, percentage) == self._last:
                return
            self._last = (text, percentage)
            report = types.WorkDoneProgressReport(message=message(text), percentage=percentage, cancellable=True)
            self._server.work_done_progress.report(self._token, report)

    def end(self, text: str) -> None:
        if self._token is not None and self._server.work_done_progress.tokens.pop(self._token, None) is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=message(text)))
