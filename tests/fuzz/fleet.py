"""Worker processes that may hang or die: each judges the inputs it is given, one at a time.

Not a pool of `concurrent.futures`: that cannot end a worker which hangs outside Python, nor say which input it had.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

import psutil

from tests.fuzz.inputs import make
from tests.fuzz.judge import Verdict, judge, limit_memory
from tests.fuzz.sources import Sources

MAX_CPU_S = 120.0  # of all versions of an input; TooSlow rings long before, except in loops outside Python
MAX_WALL_S = 900.0  # for a worker that waits for what never comes; the machine may be busy
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
    cpu_before_s: float = 0.0
    done: int = 0

    def cpu_s(self) -> float:
        """CPU time that the process has used so far."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return times.user + times.system

    def is_stuck(self) -> bool:
        return self.cpu_s() - self.cpu_before_s > MAX_CPU_S or time.monotonic() - self.since > MAX_WALL_S


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
                elif worker.is_stuck():
                    worker.process.kill()
                    yield worker.number, Verdict("no answer, and no end: killed", MAX_CPU_S, 0, 0, 0)
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
            worker.number, worker.since, worker.cpu_before_s = number, time.monotonic(), worker.cpu_s()
