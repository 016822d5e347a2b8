"""Running some of the work-items of launches, in a process of its own, for predictions that rest on assumptions.

Beside the learned model's process and not in it: neither weights that are missing nor a kernel that takes all memory
costs the other's answers.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.errors import KernelcastError
from model.samples import SampleKey, Samples
from server.log.events import event, milliseconds
from server.log.timings import Timings
from server.predictor.messages import RunItems
from server.predictor.process import PredictorProcess, ProcessEnded, Stopped
from server.predictor.request_queue import RequestQueue

logger = logging.getLogger(__name__)

LIMIT_S = 20.0  # for one launch; the process has a budget of its own, far smaller
IDLE_S = 30.0  # without a launch, after which the process leaves and gives its memory back
MAX_CRASHES = 3  # in a row, after which nothing is run any more
MOST_LAUNCHES = 256  # of a document
TELL_EVERY_S = 0.4


@dataclass(frozen=True, slots=True)
class _Order:
    """`uri` names who asks; a newer order takes the place of one that waits."""

    uri: str
    wanted: Mapping[SampleKey, RunItems]


class Sampling:
    """Safe for all threads. What is found is put into `samples`, and `news` hears on the event loop for whom."""

    def __init__(self, samples: Samples, news: Callable[[str], None], timings: Timings | None = None) -> None:
        self.samples = samples
        self._timings = timings or Timings()
        self._queue: RequestQueue[_Order] = RequestQueue(self._work, "has work-items run", news)
        self._suspects: dict[SampleKey, int] = {}
        self._crashes = 0
        self._why_off = ""
        self._process: PredictorProcess | None = None

    def start(self) -> None:
        """Remember the event loop; to be called from it."""
        self._queue.start()

    def ask(self, uri: str, wanted: Mapping[SampleKey, RunItems]) -> None:
        """Have these run for `uri`, in place of those wanted for it before that still wait."""
        with self._queue.changed:
            if not self._queue.is_stopped:
                self._queue.put(uri, _Order(uri, dict(list(wanted.items())[:MOST_LAUNCHES])))

    def forget(self, uri: str) -> None:
        self._queue.forget(uri)

    def stop(self) -> None:
        """Stop, and end the process, too."""
        with self._queue.changed:
            self._queue.stop()
            process = self._process
        if process is not None:
            process.end()

    # In the thread

    def _work(self) -> None:
        try:
            while (order := self._next()) is not None:
                self._serve(order)
        except Stopped:
            pass
        except Exception:
            # A fault of ours must not cost more than what samples tell; what was assumed is said all the same.
            logger.exception("work-items can no longer be run")
        finally:
            self._leave()

    def _next(self) -> _Order | None:
        """Return what was asked for last; None at the end."""
        while True:
            with self._queue.changed:
                limit_s = IDLE_S if self._process is not None else None
                self._queue.changed.wait_for(lambda: self._queue.is_stopped or bool(self._queue.waiting), limit_s)
                if self._queue.is_stopped:
                    return None
                if (order := self._queue.take()) is not None:
                    return order
            self._leave()

    def _serve(self, order: _Order) -> None:
        told_s, has_news = -math.inf, False  # the first is what somebody looks at
        for key, run in order.wanted.items():
            with self._queue.changed:
                if self._queue.is_stopped or order.uri in self._queue.waiting:
                    break
            if self.samples.of(key) is not None:
                continue
            self._run(key, run)
            has_news = True
            if time.monotonic() - told_s > TELL_EVERY_S:
                self._queue.tell(order.uri)
                told_s, has_news = time.monotonic(), False
        if has_news:
            self._queue.tell(order.uri)

    def _run(self, key: SampleKey, run: RunItems) -> None:
        """Run work-items until a sample or the reason for its absence is known."""
        while self.samples.of(key) is None:
            if self._why_off:
                self._give_up_on(key, self._why_off)
                return
            began_s = time.perf_counter()
            try:
                (sample,) = self._running().ask(run, LIMIT_S, lambda: self._queue.is_stopped)
            except ProcessEnded as ended:
                self._note_crash(key, ended.message)
            except KernelcastError as error:
                self._give_up_on(key, error.message)
            else:
                seconds = time.perf_counter() - began_s
                self._timings.add("run work-items", seconds)
                event("work-items were run", kernel=run.kernel, items=sample.items, ms=milliseconds(seconds))
                self._crashes = 0
                self.samples.put(key, sample)

    def _note_crash(self, key: SampleKey, reason: str) -> None:
        self._leave()
        self._crashes += 1
        self._suspects[key] = self._suspects.get(key, 0) + 1
        logger.warning("the process that runs work-items ended (%s)", reason)
        if self._crashes >= MAX_CRASHES:
            self._why_off = f"the process for that ended {self._crashes} times in a row, the last time because {reason}"
        elif self._suspects[key] > 1:
            self._give_up_on(key, f"the process that did it ended: {reason}")

    def _give_up_on(self, key: SampleKey, reason: str) -> None:
        from model.work.walk.sample import Sample  # noqa: PLC0415 - not before anybody asks

        self.samples.put(key, Sample(0, stopped=reason))

    def _running(self) -> PredictorProcess:
        if self._process is None:
            process = PredictorProcess(lambda: None)
            with self._queue.changed:
                self._process = process
                if self._queue.is_stopped:
                    raise Stopped
        return self._process

    def _leave(self) -> None:
        with self._queue.changed:
            process, self._process = self._process, None
        if process is not None:
            process.close()
