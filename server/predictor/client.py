"""Answers of the learned model so far, and the thread that asks it for more, in a process of its own.

Whoever shows predictions looks here for answers that are known, and asks for those that are not; none waits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from cachetools import LRUCache

from model.learned.learned import UnusableModel, weights_folder
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from server.log.events import event, milliseconds, native_output
from server.log.timings import Timings
from server.predictor.messages import Ask
from server.predictor.process import PredictorProcess, ProcessEnded, Stopped
from server.predictor.request_queue import RequestQueue

logger = logging.getLogger(__name__)

MOST_IN_A_BATCH = 64
LIMIT_S = 15.0  # for a batch
LOADING_S = 60.0  # for the weights, on a busy machine
IDLE_S = 900.0  # without a question, after which the process leaves and gives its memory back
RESTART_AFTER_S = (0.0, 0.3, 1.0, 3.0)  # after the first, second ... death in a row
_KEPT = 4096  # some 3 MB
_Key = tuple[tuple[str, str, bytes], str]  # a question, and the lessons of its device
Taught = Mapping[str, Lessons]  # by device


@dataclass(slots=True)
class _Order:
    """`uri` names who asks; a newer order takes the place of one that waits. `done`: somebody waits for the end."""

    uri: str
    questions: Sequence[Question]
    lessons: Taught
    done: threading.Event = field(default_factory=threading.Event)


class ModelClient:
    """The learned model's answers, from a process of its own. Safe for all threads.

    `news` hears on the event loop for whom there are answers, and "" when there are to be none any more: then `problem`
    says why. After `idle_s` without a question the process leaves, until there is one.
    """

    def __init__(self, news: Callable[[str], None], timings: Timings | None = None, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._timings = timings or Timings()
        self._is_there = weights_folder() is not None
        self._problem = ""
        self._queue: RequestQueue[_Order] = RequestQueue(self._work, "asks the learned model", news)
        self._known: LRUCache[_Key, Answer] = LRUCache(_KEPT)
        self._suspects: LRUCache[_Key, int] = LRUCache(_KEPT)  # how often the process died over a question
        self._process: PredictorProcess | None = None
        self._taught: dict[str, str] = {}  # the versions of the lessons that this process has
        self._is_warm = False  # the process has loaded its weights
        self._deaths = 0  # in a row
        self._not_before_s = 0.0
        self._names = count(1)

    @property
    def is_there(self) -> bool:
        """Whether it is worth asking."""
        return self._is_there

    @property
    def problem(self) -> str:
        """Why the shipped model does not answer; "" if all is well."""
        return self._problem

    def known(self, question: Question, lessons: Taught) -> Answer | None:
        with self._queue.changed:
            return self._known.get(_key(question, lessons))

    def awaits(self, question: Question, lessons: Taught) -> bool:
        """Return whether an answer that is not known may still come."""
        with self._queue.changed:
            return self._is_there and self._suspects.get(_key(question, lessons), 0) < _MAX_CRASHES

    def start(self) -> None:
        """Remember the event loop; to be called from it."""
        self._queue.start()

    def ask(self, uri: str, questions: Sequence[Question], lessons: Taught) -> None:
        """Ask these questions for `uri`, in place of those asked for it before that still wait."""
        self._put(_Order(uri, questions, lessons))

    def now(self, questions: Sequence[Question], lessons: Taught, patience_s: float) -> list[Answer | None]:
        """Return the answers, for a thread that can wait; None where there is none in time."""
        new = [question for question in questions if self.known(question, lessons) is None]
        if new and self._is_there:
            order = _Order(f"#{next(self._names)}", new, lessons)
            self._put(order)
            order.done.wait(patience_s)
        return [self.known(question, lessons) for question in questions]

    def forget(self, uri: str) -> None:
        self._queue.forget(uri)

    def stop(self) -> None:
        """Stop, and end the process, too."""
        with self._queue.changed:
            self._queue.stop()
            process = self._process
        if process is not None:
            process.end()

    def _put(self, order: _Order) -> None:
        with self._queue.changed:
            if not self._is_there or self._queue.is_stopped:
                order.done.set()
                return
            self._queue.put(order.uri, order)

    # In the thread

    def _work(self) -> None:
        try:
            while (order := self._next()) is not None:
                try:
                    self._serve(order)
                finally:
                    order.done.set()
        except Stopped:
            pass
        except Exception as error:
            # A fault of ours must not cost more than the model's answers; it is logged whole and told to the user.
            logger.exception("the learned model cannot be asked")
            self._give_up(f"{type(error).__name__}: {error}")
        finally:
            if self._process is not None:
                self._process.close()

    def _next(self) -> _Order | None:
        """Return what was asked for last, or an order without questions where the process has to be started anew."""
        while True:
            with self._queue.changed:
                limit_s = self._idle_s if self._process is not None else None
                has_news = self._queue.changed.wait_for(self._has_news, limit_s)
                if self._queue.is_stopped:
                    return None
                if (order := self._queue.take()) is not None:
                    return order
                if has_news:
                    return _Order("", (), {})
                idle = self._without_process()
            if idle is not None:
                idle.close()

    def _has_news(self) -> bool:
        return self._queue.is_stopped or bool(self._queue.waiting) or self._has_died()

    def _without_process(self) -> PredictorProcess | None:
        """Return what it was; another one knows nothing yet."""
        process, self._process = self._process, None
        self._is_warm = False
        self._taught.clear()
        return process

    def _has_died(self) -> bool:
        return self._process is not None and self._process.has_ended

    def _serve(self, order: _Order) -> None:
        """Answer what is not known of an order, unless a newer one takes its place."""
        if self._has_died():
            self._handle_crash(())
        if not order.questions and self._is_there:
            self._answered(order, ())
        while batch := self._batch(order):
            if self._answered(order, batch):
                self._tell(order.uri)

    def _batch(self, order: _Order) -> tuple[Question, ...]:
        """Return what to ask next. What a process has died over is asked alone: the others shall not suffer for it."""
        with self._queue.changed:
            if self._queue.is_stopped or not self._is_there or order.uri in self._queue.waiting:
                return ()
            keys = {_key(question, order.lessons): question for question in order.questions}
            new = {key: question for key, question in keys.items() if key not in self._known}
            safe = [question for key, question in new.items() if not self._suspects.get(key, 0)]
            suspect = [question for key, question in new.items() if 0 < self._suspects.get(key, 0) < _MAX_CRASHES]
            return tuple(safe[:MOST_IN_A_BATCH] or suspect[:1])

    def _answered(self, order: _Order, batch: tuple[Question, ...]) -> bool:
        """Return whether anything is different now: answers are known, or one is not to be expected any more."""
        keys = [_key(question, order.lessons) for question in batch]
        try:
            process = self._warm()
            new = {each: known for each, known in order.lessons.items() if self._taught.get(each) != known.version}
            limit_s = LIMIT_S + (LOADING_S if new else 0.0)  # lessons are answered first, all of them
            began_s = time.perf_counter()
            answers = process.ask(Ask(batch, new), limit_s, lambda: self._queue.is_stopped) if batch else ()
            if batch:
                self._note(len(batch), time.perf_counter() - began_s)
        except ProcessEnded as ended:
            self._handle_crash(keys if self._is_warm else (), ended.message)
            return any(self._suspects.get(key, 0) >= _MAX_CRASHES for key in keys)
        except UnusableModel as error:
            self._give_up(error.message)
            return False
        if batch:
            self._taught |= {each: known.version for each, known in new.items()}
        with self._queue.changed:
            self._known.update(zip(keys, answers, strict=True))
            for key in keys:
                self._suspects.pop(key, None)
            if batch:
                self._deaths = 0
        return bool(batch)

    def _note(self, questions: int, seconds: float) -> None:
        self._timings.add("ask the model", seconds)
        event("the model answered", questions=questions, ms=milliseconds(seconds))

    def _warm(self) -> PredictorProcess:
        """Return the process with its weights loaded: what ends it before that is no question's fault."""
        process = self._running()
        if not self._is_warm:
            with self._timings.during("load the model"):
                process.ask(Ask((), {}), LOADING_S, lambda: self._queue.is_stopped)
            self._is_warm = True
        return process

    def _running(self) -> PredictorProcess:
        """Return the process, started if need be; not at once where it has died before."""
        if self._process is None:
            with self._queue.changed:
                left_s = self._not_before_s - time.monotonic()
                if self._queue.changed.wait_for(lambda: self._queue.is_stopped, max(0.0, left_s)):
                    raise Stopped
            process = PredictorProcess(self._look)
            with self._queue.changed:
                self._process = process
                stopped = self._queue.is_stopped
            if stopped:
                raise Stopped
        return self._process

    def _look(self) -> None:
        with self._queue.changed:
            self._queue.changed.notify_all()

    def _handle_crash(self, keys: Sequence[_Key], exit_reason: str = "") -> None:
        """Take note that the process died, perhaps over these questions."""
        told = ""
        if self._process is not None:
            exit_reason = exit_reason or self._process.exit_reason()
            told = self._process.native_output()
            self._process.close()
        with self._queue.changed:
            self._without_process()
            for key in keys:
                self._suspects[key] = self._suspects.get(key, 0) + 1
            if not self._queue.is_stopped:
                self._deaths += 1
                logger.warning("the predictor process ended (%s)", exit_reason)
                native_output("predictor", told)
            if self._deaths <= len(RESTART_AFTER_S):
                self._not_before_s = time.monotonic() + RESTART_AFTER_S[max(0, self._deaths - 1)]
                return
        self._give_up(f"its process ended {self._deaths} times in a row, the last time because {exit_reason}")

    def _give_up(self, why: str) -> None:
        """Give the model up for this session; known answers stay."""
        with self._queue.changed:
            if self._queue.is_stopped:
                return
            self._is_there = False
            self._problem = f"The learned model is off: {why}. New kernels are predicted by the analytical model alone."
            waiting, self._queue.waiting = self._queue.waiting, {}
        for order in waiting.values():
            order.done.set()
        self._tell("")

    def _tell(self, uri: str) -> None:
        if not uri.startswith("#"):
            self._queue.tell(uri)


_MAX_CRASHES = 2  # deaths over a question after which it is not asked again


def _key(question: Question, lessons: Taught) -> _Key:
    taught = lessons.get(question.device_id)
    return question.key, taught.version if taught else ""
