"""Device work in a thread of its own, one job at a time, each of which can be cancelled.

One at a time because two measurements on one machine spoil each other. The jobs own child processes and end them when
they are cancelled, so leaving never waits long. A long job can give way to those that wait, and goes on after them.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from profiler.measurement import Cancelled

OnProgress = Callable[[float, str], None]
Result = TypeVar("Result")
Work = Callable[[OnProgress, threading.Event], Result]

MOST_WAITING = 16
WAITING = "waiting for its turn"
SETTLE_S = 0.5  # after the last job that a long one gave way to: a file's launches are measured one after the other


@dataclass(frozen=True, slots=True)
class _Job:
    """Work that waits for the thread, and what comes of it."""

    work: Callable[[], Any]
    outcome: Future[Any] = field(default_factory=Future)

    def run(self) -> None:
        if not self.outcome.set_running_or_notify_cancel():
            return
        try:
            self.outcome.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - as an executor does: it belongs to whoever awaits the outcome
            self.outcome.set_exception(error)


class Jobs:
    """Owns the thread and the jobs that wait for it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="device")
        self._queue: queue.Queue[_Job] = queue.Queue()
        self._patient: queue.Queue[_Job] = queue.Queue()
        self._cancels: set[threading.Event] = set()
        self._aside: threading.Event | None = None
        self.is_closed = False

    @property
    def is_full(self) -> bool:
        return len(self._cancels) >= MOST_WAITING

    @property
    def is_wanted(self) -> bool:
        """Whether a job waits for the thread that a long one gives way to."""
        return not self._queue.empty()

    async def run(
        self, work: Work[Result], on_progress: OnProgress, cancel: threading.Event, *, is_patient: bool = False
    ) -> Result:
        """Wait for a turn and for the result. `on_progress` is called on the event loop.

        A patient job begins after all others, and gives way to those that come later where its work says so.
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
        job: Future[Result] = self._submit(lambda: work(tell, cancel), self._patient if is_patient else self._queue)
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
        """Run a job that nobody waits for; returns None if given up because another job wants the device."""
        if self._cancels or self.is_closed:
            return None
        cancel = self._aside = threading.Event()
        job: Future[Result] = self._submit(lambda: work(lambda *_: None, cancel), self._queue)
        outcome = asyncio.wrap_future(job)
        outcome.add_done_callback(_heard)
        try:
            return await asyncio.shield(outcome)
        except Cancelled:
            return None
        finally:
            cancel.set()

    def give_way(self) -> None:
        """Run the jobs that wait, and those that follow at once; called in the thread, by a patient job."""
        while not self.is_closed:
            try:
                job = self._queue.get(timeout=SETTLE_S)
            except queue.Empty:
                return
            job.run()

    def give_up_aside(self) -> None:
        """End what nobody waits for."""
        if self._aside is not None:
            self._aside.set()

    def close(self) -> None:
        """End all jobs; their child processes are gone shortly after. What comes later is cancelled at once."""
        self.is_closed = True
        for cancel in (*self._cancels, *([self._aside] if self._aside else [])):
            cancel.set()
        for waiting in (self._queue, self._patient):
            with contextlib.suppress(queue.Empty):
                while True:
                    waiting.get_nowait().outcome.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, work: Callable[[], Result], waiting: queue.Queue[_Job]) -> Future[Result]:
        job = _Job(work)
        waiting.put(job)
        self._pool.submit(self._run_next)
        return job.outcome

    def _run_next(self) -> None:
        """Run the job that has waited longest, patient ones last; none is left if one that gave way has run it."""
        for waiting in (self._queue, self._patient):
            with contextlib.suppress(queue.Empty):
                job = waiting.get_nowait()
                job.run()
                return


def _heard(outcome: asyncio.Future[Any]) -> None:
    """Mark a cancelled job's exception as retrieved, or asyncio would warn."""
    if not outcome.cancelled():
        outcome.exception()
