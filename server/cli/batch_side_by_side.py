"""A long batch, answered by several processes; its answers are written in the order of its lines all the same."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Queue

from model.errors import KernelcastError
from server.cli.batch_workers import WorkerEnded, Workers
from server.cli.requests import Request

FEW_LINES = 100  # of which answering takes no longer than starting processes
LINES_OF_EACH = 50
MOST_PROCESSES = 8  # each holds the learned model, about 150 MB
MOST_ON_THEIR_WAY = 2048  # lines that are read before the first of them is answered


@dataclass(frozen=True, slots=True)
class Asked:
    """A line of a batch, the id that it gives, and what it asks for, or why it is not understood.

    `known` is the answer, as it is to be written, where that is known already.
    """

    line: bytes
    id: object
    request: Request | KernelcastError
    known: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to one line: `text` where another process gave it, else None."""

    asked: Asked
    text: str | None

    @property
    def is_error(self) -> bool:
        return self.text is not None and '"error": {' in self.text and "error" in json.loads(self.text)


def processes(lines: int, wanted: int | None) -> int:
    """Return how many to answer with, where so many lines are at hand: one is this process alone."""
    if wanted is not None:
        return min(wanted, MOST_PROCESSES) if lines > 1 else 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_PROCESSES, max(2, lines // LINES_OF_EACH)) if lines > FEW_LINES else 1


def said_by(workers: Workers, asked: Iterable[Asked]) -> Iterator[Said]:
    """Yield the answers in order. A thread reads further lines while answers are awaited."""
    sent: Queue[tuple[Asked, Future[str] | None] | BaseException | None] = Queue(MOST_ON_THEIR_WAY)

    def send() -> None:
        try:
            for each in asked:
                request = each.request
                if isinstance(request, Request) and each.known is None:
                    sent.put((each, workers.ask(_kernel(request), each.line)))
                else:
                    sent.put((each, None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for answers
            sent.put(error)
        else:
            sent.put(None)

    threading.Thread(target=send, name="reads the batch", daemon=True).start()
    while (item := sent.get()) is not None:
        if isinstance(item, BaseException):
            raise item
        each, answer = item
        yield Said(each, each.known if each.known is not None else _text(answer))


def _text(answer: Future[str] | None) -> str | None:
    if answer is None:
        return None
    try:
        return answer.result()
    except WorkerEnded:
        return None  # whoever asked answers by himself


def _kernel(request: Request) -> tuple[object, ...]:
    """Return what one analysis serves."""
    return request.file, request.kernel, request.options
