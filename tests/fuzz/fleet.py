"""Worker processes that may hang or die: each judges the inputs it is given, one at a time.

Not a pool of `concurrent.futures`: that cannot end a worker which hangs outside Python, nor say which input it had.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from tests.fuzz.inputs import make
from tests.fuzz.judge import Verdict, judge, limit_memory
from tests.fuzz.sources import Sources

MAX_WALL_S = 60.0  # an input has several versions, and the machine may be busy; TooSlow rings long before
_FRESH_AFTER = 2000  # inputs, then a worker is replaced


@dataclass(frozen=True)
class Plan:
    """Inputs `start` to `stop` of one seed."""

    sources: Sources
    seed: int
    start: int
    stop: int
    kinds: tuple[str, ...]


def _work(plan: Plan, orders: Connection) -> None:
    limit_memory()
    while (number := orders.recv()) is not None:
        orders.send(judge(make(plan.sources, plan.seed, number, plan.kinds)))


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    orders: Connection
    number: int = -1  # the input it has now
    since: float = 0.0
    done: int = 0


class Fleet:
    """Runs a plan on so many workers; yields (number, verdict) as they come."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._plan = plan
        self._context = multiprocessing.get_context("fork")  # files that were read already are shared
        self._numbers = iter(range(plan.start, plan.stop))
        self._workers = [self._hired() for _ in range(workers)]

    def verdicts(self) -> Iterator[tuple[int, Verdict]]:
        for worker in list(self._workers):
            self._give_next(worker)
        while self._workers:
            ready = wait([w.orders for w in self._workers], timeout=0.5)
            for worker in list(self._workers):
                if worker.orders in ready:
                    yield worker.number, self._received(worker)
                elif time.monotonic() - worker.since > MAX_WALL_S:
                    worker.process.kill()
                    yield worker.number, Verdict(f"no answer for {MAX_WALL_S:g} s: ended", MAX_WALL_S, 0, 0, 0)
                    self._replace(worker)

    def _received(self, worker: _Worker) -> Verdict:
        try:
            verdict: Verdict = worker.orders.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            verdict = Verdict(f"the process died with status {worker.process.exitcode}", 0, 0, 0, 0)
            self._replace(worker)
            return verdict
        worker.done += 1
        if worker.done >= _FRESH_AFTER:
            worker.orders.send(None)
            worker.process.join()
            self._replace(worker)
        else:
            self._give_next(worker)
        return verdict

    def _hired(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(self._plan, there), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def _replace(self, worker: _Worker) -> None:
        worker.process.join()
        self._workers.remove(worker)
        new = self._hired()
        self._workers.append(new)
        self._give_next(new)

    def _give_next(self, worker: _Worker) -> None:
        number = next(self._numbers, None)
        worker.orders.send(number)
        if number is None:
            worker.process.join()
            self._workers.remove(worker)
        else:
            worker.number, worker.since = number, time.monotonic()
