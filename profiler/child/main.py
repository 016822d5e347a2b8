"""Where a device process begins: secure the streams, take one job, answer, leave."""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import resource
import signal
import sys
import threading
from typing import IO

from model.errors import KernelcastError
from profiler.measurement import OutOfResources
from profiler.messages import Done, Failed, Job, Message, Phase, Progress

PR_SET_PDEATHSIG = 1  # linux/prctl.h
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
    _die_with_parent()
    lifeline, reporter = _secure_streams()
    job = pickle.load(lifeline)
    threading.Thread(target=_end_when_closed, args=(lifeline,), daemon=True).start()
    _limit_resources(job)
    reporter.send(_run(job, reporter))
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


def _secure_streams() -> tuple[IO[bytes], Reporter]:
    """Keep the parent's two pipes for ourselves: kernels that print, and drivers that chat, write to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), Reporter(os.fdopen(outgoing, "wb"))


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_when_closed(lifeline: IO[bytes]) -> None:
    """The parent never writes again, so the pipe's end means that it died: take our compilers along."""
    lifeline.read()
    os.killpg(0, signal.SIGKILL)


def _limit_resources(job: Job) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave a core file in the user's folder
    _lower(resource.RLIMIT_FSIZE, OUTPUT_LIMIT_BYTES)
    if job.memory_bytes:
        # Private writable memory. The whole address space (RLIMIT_AS) would stop GPU drivers, which reserve terabytes.
        _lower(resource.RLIMIT_DATA, job.memory_bytes)


def _lower(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (limit, hard))
