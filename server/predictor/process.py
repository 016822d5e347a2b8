"""One predictor process: how it is started, asked, heard and ended.

`subprocess` and not `multiprocessing` or `pebble`, for the reasons that `profiler.process.worker` gives: a clean
interpreter that has nothing of the editor's streams, in a session of its own.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, overload

from model.errors import KernelcastError
from model.learned.learned import ONE_THREAD
from model.learned.question import Answer
from profiler.measurement import MeasureError
from profiler.process.framing import Inbox
from profiler.process.messages import Done, Failed
from profiler.process.worker import search_path
from server.predictor.messages import Ask, RunItems

if TYPE_CHECKING:
    from model.work.walk.sample import Sample

BOOT = "import sys; sys.path[:] = sys.argv[1:]; from server.predictor.child import main; main()"
DEFAULTS = {**ONE_THREAD, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "0"}
POLL_S = 0.05
LEAVING_S = 5.0
LAST_WORDS, NATIVE_OUTPUT = 500, 8192  # bytes


class ProcessEnded(KernelcastError):
    """The process died, hung or sent no valid answer; the message says which."""

    code = "predictor"


class Stopped(Exception):
    """The server is leaving."""


class PredictorProcess:
    """Owns the child. For one thread, but `end` is for any. Raises `ProcessEnded` where it cannot be started."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        """`on_end` is called, in a thread of its own, when the child is gone, whoever ended it."""
        if not hasattr(select, "poll") or not hasattr(os, "killpg"):
            raise ProcessEnded("the process of the learned model does not run on Windows itself; it does in WSL 2")
        try:
            self._native_output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", BOOT, *search_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._native_output,
                env={**DEFAULTS, **os.environ},
                start_new_session=True,  # Ctrl-C in the terminal is for the server, which ends it
            )
        except OSError as error:
            raise ProcessEnded(f"it cannot be started with {sys.executable}: {error.strerror}") from error
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._stdin = self._child.stdin.fileno()
        os.set_blocking(self._stdin, False)
        self._room = select.poll()
        self._room.register(self._stdin, select.POLLOUT)
        self._inbox = Inbox(self._child.stdout)
        threading.Thread(target=self._watch, args=(on_end,), name="watches the predictor", daemon=True).start()

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    @overload
    def ask(self, order: Ask, limit_s: float, is_stopped: Callable[[], bool]) -> Sequence[Answer]: ...

    @overload
    def ask(self, order: RunItems, limit_s: float, is_stopped: Callable[[], bool]) -> Sequence[Sample]: ...

    def ask(
        self, order: Ask | RunItems, limit_s: float, is_stopped: Callable[[], bool]
    ) -> Sequence[Answer] | Sequence[Sample]:
        """Return the answers, in the order of the questions.

        Raises `ProcessEnded`, `Stopped` or what the child names.
        """
        deadline_s = time.monotonic() + limit_s

        def check() -> None:
            if is_stopped():
                raise Stopped
            if time.monotonic() > deadline_s:
                raise ProcessEnded(f"it was silent for {limit_s:g} s")

        self._send(memoryview(pickle.dumps(order)), check)
        while True:
            check()
            try:
                messages = self._inbox.wait(POLL_S)
            except MeasureError:
                raise ProcessEnded("what it sent is not an answer") from None
            for message in messages:
                match message:
                    case Done(answers) if len(answers) == order.answers:
                        found: Sequence[Answer] | Sequence[Sample] = answers
                        return found
                    case Failed(error):
                        raise error
                    case _:
                        raise ProcessEnded("what it sent is not an answer")
            if self._inbox.has_ended:
                raise ProcessEnded(self.exit_reason())

    def _send(self, data: memoryview, check: Callable[[], None]) -> None:
        while data:
            check()
            if not self._room.poll(POLL_S * 1000):
                continue
            try:
                data = data[os.write(self._stdin, data) :]
            except BlockingIOError:
                continue
            except OSError:
                raise ProcessEnded(self.exit_reason()) from None

    def exit_reason(self) -> str:
        """Return how it ended, in a few words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(LEAVING_S)
        status = self._child.returncode
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by {signal.Signals(-status).name}"
        said = self.native_output(LAST_WORDS).splitlines()
        return said[-1] if said else f"exit status {status}"

    def native_output(self, most_bytes: int = NATIVE_OUTPUT) -> str:
        """Return the end of what it wrote to its stderr."""
        # Without seeking: a child that still writes shares the position.
        number = self._native_output.fileno()
        size = os.fstat(number).st_size
        return os.pread(number, most_bytes, max(0, size - most_bytes)).decode("utf-8", "replace").strip()

    def end(self) -> None:
        """End the process at once; it has nothing to lose."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and release its resources."""
        self.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(LEAVING_S)
        for pipe in (self._child.stdin, self._child.stdout, self._native_output):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _watch(self, on_end: Callable[[], None]) -> None:
        self._child.wait()
        on_end()
