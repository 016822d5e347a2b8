"""Where a device process begins: secure the streams, take one job, answer, leave."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import IO

from model.errors import KernelcastError
from profiler.measurement import OutOfResources
from profiler.messages import Done, Failed, Job, Message, Phase, Progress

OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024  # a kernel that prints in a loop must not fill the disk


class Reporter:
    """Owns the way back to the parent."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def send(self, message: Message) -> None:
        pickle.dump(message, self._stream)
        self._stream.flush()

    def progress(self, fraction: float, text: str) -> None:
        """Tell how far the job is; `fraction` in 0..1."""
        self.send(Progress(fraction, text))

    def begin(self, fraction: float, text: str, phase: Phase) -> None:
        """Begin a phase; if it outlasts its limit, the parent ends this process."""
        self.send(Progress(fraction, text, phase))


def main() -> None:
    """Serve one job. Never returns: the drivers' own clean-up at exit is known to hang."""
    lifeline, outgoing = _secure_streams()
    job = pickle.load(lifeline)
    watcher = _start_watcher(lifeline, outgoing)
    _limit_resources(job)
    reporter = Reporter(outgoing)
    reporter.send(_run(job, reporter))
    os.kill(watcher, signal.SIGKILL)
    os.waitpid(watcher, 0)
    sys.stderr.flush()
    os._exit(0)


def _run(job: Job, reporter: Reporter) -> Message:
    module, _, name = job.target.partition(":")
    try:
        return Done(getattr(importlib.import_module(module), name)(*job.arguments, reporter))
    except KernelcastError as error:
        return Failed(error)
    except MemoryError:
        return Failed(OutOfResources("the device process ran out of memory: choose smaller buffers"))


def _secure_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the parent's two pipes for ourselves: kernels that print, and drivers that chat, write to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def _start_watcher(lifeline: IO[bytes], outgoing: IO[bytes]) -> int:
    """Fork a process that ends our whole group, with PoCL's compilers and linkers, when the parent is gone.

    A thread could not: native code may hold Python's lock for ever. The parent never writes again, so the end of
    the pipe means that it died.
    """
    watcher = os.fork()
    if watcher:
        return watcher
    outgoing.close()  # or the parent would not notice that we crashed
    with contextlib.suppress(OSError):
        os.read(lifeline.fileno(), 1)
    os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _limit_resources(job: Job) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave a core file in the user's folder
    _lower(resource.RLIMIT_FSIZE, OUTPUT_LIMIT_BYTES)
    with contextlib.suppress(OSError):  # not everywhere allowed
        # If memory runs out, the system shall end this process rather than the user's editor.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    if job.memory_bytes:
        # Private writable memory. The whole address space (RLIMIT_AS) would stop GPU drivers, which reserve terabytes.
        _lower(resource.RLIMIT_DATA, job.memory_bytes)


def _lower(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (limit, hard))
