"""Where a device process begins: secure the streams, take one job, answer, leave."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import IO

from model.errors import KernelcastError
from profiler.device_worker.memory.free_memory import free_memory_bytes
from profiler.measurement import OutOfResources
from profiler.process.framing import packed
from profiler.process.messages import FOLDER_VARIABLE, Done, Failed, Job, Message, Phase, Progress

OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024  # a kernel that prints in a loop must not fill the disk
PAUSE_S, MOST_REMOVALS = 0.02, 50


class Reporter:
    """Owns the way back to the parent."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def send(self, message: Message) -> None:
        self._stream.write(packed(message))
        self._stream.flush()

    def progress(self, fraction: float, text: str) -> None:
        """Tell how far the job is; `fraction` in 0..1."""
        self.send(Progress(fraction, text))

    def begin(self, fraction: float, text: str, phase: Phase) -> None:
        """Begin a phase; if it outlasts its limit, the parent ends this process."""
        self.send(Progress(fraction, text, phase))


def main() -> None:
    """Serve one job. Never returns: the drivers' own clean-up at exit is known to hang."""
    folder = os.environ.pop(FOLDER_VARIABLE, "")
    status = 1
    try:
        lifeline, outgoing = _secure_streams()
        try:
            job = pickle.load(lifeline)
        except (EOFError, pickle.UnpicklingError):  # the parent is gone already
            shutil.rmtree(folder, ignore_errors=True)
            return
        watcher = _start_watcher(lifeline, outgoing, folder)
        os.nice(job.niceness)
        limit_resources(job.memory_bytes)
        reporter = Reporter(outgoing)
        reporter.send(_run(job, reporter))
        os.kill(watcher, signal.SIGKILL)
        os.waitpid(watcher, 0)
        status = 0
    except Exception:  # noqa: BLE001 - a mistake of ours, or a library's; the parent tells of it from our output
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


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


def _start_watcher(lifeline: IO[bytes], outgoing: IO[bytes], folder: str) -> int:
    """Fork a process that ends our whole group, with PoCL's compilers and linkers, when the parent is gone.

    A thread could not: native code may hold Python's lock for ever. The parent never writes again, so the end of
    the pipe means that it died. Then nobody else removes the job's folder.
    """
    job = os.getpid()
    watcher = os.fork()
    if watcher:
        return watcher
    outgoing.close()  # or the parent would not notice that we crashed
    with contextlib.suppress(OSError):
        os.read(lifeline.fileno(), 1)
    os.setpgid(0, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job, signal.SIGKILL)
    if folder:
        _remove(folder)
    os._exit(0)


def _remove(folder: str) -> None:
    """Until it stays away: a linker that was just ended may still be about to write into it."""
    for _ in range(MOST_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(PAUSE_S)
        if not os.path.exists(folder):
            return


def limit_resources(memory_bytes: int) -> None:
    """Of this process. `memory_bytes` 0: what is free now, less a tenth."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave a core file in the user's folder
    _lower(resource.RLIMIT_FSIZE, OUTPUT_LIMIT_BYTES)
    with contextlib.suppress(OSError):  # not everywhere allowed
        # If memory runs out, the system shall end this process rather than the user's editor.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    most_bytes = memory_bytes or free_memory_bytes() * 9 // 10
    if most_bytes:
        # Private writable memory. The whole address space (RLIMIT_AS) would stop GPU drivers, which reserve terabytes.
        soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
        _lower(resource.RLIMIT_DATA, most_bytes if soft == resource.RLIM_INFINITY else min(most_bytes, soft))


def _lower(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (limit, hard))
