"""Work that takes a moment, off the event loop, in a thread that nobody waits for when the server leaves.

asyncio's own threads are joined at the end, so that an editor's `exit` would wait for a page that nobody will see.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_background(work: Callable[[], Result], name: str) -> Result:
    """Return the result of `work`, or what it raised."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - raised again where it is awaited
            _call(loop, _fail, outcome, error)
        else:
            _call(loop, _succeed, outcome, result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await outcome


def _succeed(outcome: asyncio.Future[Result], result: Result) -> None:
    if not outcome.done():  # the request was cancelled meanwhile
        outcome.set_result(result)


def _fail(outcome: asyncio.Future[Result], error: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(error)


def _call(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: object) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: the server is leaving
        loop.call_soon_threadsafe(callback, *arguments)
