"""Device work in a thread of its own, one job at a time, each of which can be cancelled.

One at a time because two measurements on one machine spoil each other. The jobs own child processes and end them when
they are cancelled, so leaving never waits long.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from profiler.measurement import Cancelled

OnProgress = Callable[[float, str], None]
Result = TypeVar("Result")
Work = Callable[[OnProgress, threading.Event], Result]

MOST_WAITING = 16
WAITING = "waiting for its turn"


class Jobs:
    """Owns the thread and the jobs that wait for it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="device")
        self._cancels: set[threading.Event] = set()
        self._aside: threading.Event | None = None
        self.is_closed = False

    @property
    def is_full(self) -> bool:
        return len(self._cancels) >= MOST_WAITING

    async def run(self, work: Work[Result], on_progress: OnProgress, cancel: threading.Event) -> Result:
        """Wait for a turn and for the result. `on_progress` is called on the event loop.

        Cancelling the awaiting task, like setting `cancel`, ends the job. Raises Cancelled once the server leaves.
        """
        if self.is_closed:
            raise Cancelled("the server is leaving")
        loop = asyncio.get_running_loop()

        def tell(fraction: float, text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server is leaving
                loop.call_soon_threadsafe(on_progress, fraction, text)

        self.give_up_aside()
        if self._cancels:
            on_progress(0.0, WAITING)
        self._cancels.add(cancel)
        job: Future[Result] = self._pool.submit(work, tell, cancel)
        outcome = asyncio.wrap_future(job)
        outcome.add_done_callback(_heard)
        try:
            # Shielded: the job must hear of a cancellation itself, so that it ends its child process.
            return await asyncio.shield(outcome)
        finally:
            self._cancels.discard(cancel)
            if not job.done():
                cancel.set()
                job.cancel()

    async def run_aside(self, work: Work[Result]) -> Result | None:
        """As `run`, for what nobody waits for: given up, with None, as soon as another job wants the device."""
        if self._cancels or self.is_closed:
            return None
        cancel = self._aside = threading.Event()
        job: Future[Result] = self._pool.submit(work, lambda *_: None, cancel)
        outcome = asyncio.wrap_future(job)
        outcome.add_done_callback(_heard)
        try:
            return await asyncio.shield(outcome)
        except Cancelled:
            return None
        finally:
            cancel.set()

    def give_up_aside(self) -> None:
        """End what nobody waits for."""
        if self._aside is not None:
            self._aside.set()

    def close(self) -> None:
        """End all jobs; their child processes are gone shortly after. What comes later is cancelled at once."""
        self.is_closed = True
        for cancel in (*self._cancels, *([self._aside] if self._aside else [])):
            cancel.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _heard(outcome: asyncio.Future[Any]) -> None:
    """Nobody awaits the failure of a job whose request was cancelled; asyncio would call that an oversight."""
    if not outcome.cancelled():
        outcome.exception()
