"""Other processes that answer lines of a batch: each is a `kernelcast predict --batch -` of its own.

So there is no other protocol than that of batches, and no other code that answers. Lines of one kernel go to one
process, which analyses it once; unless that one has much more to do than another.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Hashable, Sequence
from concurrent.futures import Future

from model.errors import KernelcastError
from profiler.process.worker import search_path

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
