"""A long batch, answered by several processes; its answers are written in the order of its lines all the same.

Each process is a `kernelcast predict --batch -` of its own, so there is no other protocol than that of batches, and no
other code that answers. Lines of one kernel go to one process, which analyses it once; unless that one has much more to
do than another.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Queue

from model.errors import KernelcastError
from profiler.process.worker import search_path
from server.cli.requests import Request

BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from server.cli.entry import main; sys.exit(main(sys.argv[2:]))"
)
MUCH_MORE = 24  # lines that wait: about what analysing a kernel once more takes


class WorkerEnded(KernelcastError):
    """A worker process ended, perhaps because of this line."""

    code = "worker"


class Worker:
    """One process. `ask` is for one thread. It ends with its input, and with us: nobody reads its answers then."""

    def __init__(self, call: Sequence[str], *, is_heard: bool) -> None:
        """Start the process. Raises OSError where that fails.

        What it writes to stderr is passed on only if it `is_heard`.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", BOOT, json.dumps(search_path()), *call],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if is_heard else subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for us, who end it
        )
        self._waiting: deque[Future[str]] = deque()
        self._lock = threading.Lock()
        self._has_ended = False
        threading.Thread(target=self._listen, name="hears a worker", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def waiting(self) -> int:
        """Return how many lines have no answer yet."""
        return len(self._waiting)

    @property
    def has_ended(self) -> bool:
        return self._has_ended

    def ask(self, line: bytes) -> Future[str]:
        """Return the answer as it is to be written; waits where the process has more than enough to do."""
        answer: Future[str] = Future()
        with self._lock:
            if self._has_ended:
                answer.set_exception(WorkerEnded("it has ended"))
                return answer
            self._waiting.append(answer)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # then `_listen` hears of its end
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        return answer

    def close(self) -> None:
        """End the process at once; answers that were not read are lost."""
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not self._waiting or not line.endswith(b"\n"):
                break
            self._waiting.popleft().set_result(line.decode().rstrip("\n"))
        with self._lock:
            self._has_ended = True
            left, self._waiting = self._waiting, deque()
        for answer in left:
            answer.set_exception(WorkerEnded("it has ended"))


class Workers:
    """Several of them; a context, after which none is left."""

    def __init__(self, call: Sequence[str], number: int) -> None:
        self._all: list[Worker] = []
        self._knowing: dict[Hashable, list[Worker]] = {}
        with contextlib.suppress(OSError):  # with fewer it goes on, and with none the caller answers
            for n in range(number):  # all would say the same of what is amiss
                self._all.append(Worker(call, is_heard=n == 0))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._all:
            worker.close()

    def ask(self, kernel: Hashable, line: bytes) -> Future[str]:
        """Return the answer to `line`, or `WorkerEnded`."""
        worker = self._chosen(kernel)
        if worker is None:
            nobody: Future[str] = Future()
            nobody.set_exception(WorkerEnded("there is none"))
            return nobody
        return worker.ask(line)

    def _chosen(self, kernel: Hashable) -> Worker | None:
        alive = [worker for worker in self._all if not worker.has_ended]
        if not alive:
            return None
        idlest = min(alive, key=lambda worker: worker.waiting)
        knowing = self._knowing.setdefault(kernel, [])
        known = min((w for w in knowing if not w.has_ended), key=lambda worker: worker.waiting, default=None)
        if known is not None and known.waiting <= idlest.waiting + MUCH_MORE:
            return known
        knowing.append(idlest)
        return idlest


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
