"""One job in a device process of its own, which may crash, hang or be cancelled without harm to its parent.

Why `subprocess` and not `pebble` or `multiprocessing`: those start children that import the parent's `__main__`
(here the language server), inherit its stdin and stdout (the editor's protocol stream), leave a resource tracker
behind that holds both open, and do not tell the child's process id in time, so that PoCL's compilers and linkers
could not be ended together with the child. `subprocess` gives a clean interpreter, a session of its own and an id.

The child sends pickled messages over what was its stdout; its native output goes to a file that ends up in `log`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

from profiler.drivers import driver_environment
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureError, OutOfResources, TimedOut
from profiler.messages import AtStake, Done, Failed, Job, Message, Outcome, Phase, Progress

OnProgress = Callable[[float, str], None]  # (fraction done in 0..1, what is going on)
OnTask = Callable[[AtStake | Outcome], None]  # of a job with many tasks
T = TypeVar("T")
POLL_S = 0.05
# Unpinned, both of PoCL's workers often share a core and times flip between t and 2t.
DEFAULTS = {"POCL_AFFINITY": "1", "PYOPENCL_NO_CACHE": "1", "PYOPENCL_COMPILER_OUTPUT": "0"}
NO_LINKER = (
    "PoCL cannot link kernels: it needs a linker and the C library's files; "
    "install them (Debian, Ubuntu: apt-get install gcc libc6-dev)"
)
WHOLE_JOB = Phase("the device process", 600.0)
LOG_BYTES = 8192  # of the child's native output, from its end
BOOT = "import sys; sys.path[:] = sys.argv[1:]; from profiler.child.main import main; main()"


class CancelToken(Protocol):
    """`threading.Event` is one."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device process may use. `phase` is its first; the job may begin others. `memory_bytes` 0: no limit."""

    phase: Phase = WHOLE_JOB
    memory_bytes: int = 0


def run_job(
    target: str,
    arguments: tuple[Any, ...] = (),
    *,
    returns: type[T],
    limits: Limits | None = None,
    on_progress: OnProgress | None = None,
    on_task: OnTask | None = None,
    cancel: CancelToken | None = None,
) -> T:
    """Run `package.module:function` in a new device process and return what it returns; blocks, safe in any thread.

    The function gets `arguments` and a `Reporter` for progress, and for tasks if it has many. Cancelling kills it,
    at once.
    Raises what the function raised if that is a `KernelcastError`, else KernelCrashed, TimedOut, OutOfResources,
    Cancelled or MeasureError. Whatever happens, the child and all that it started are gone on return.
    """
    limits = limits or Limits()
    with tempfile.TemporaryFile() as native_output, driver_environment({**DEFAULTS, **os.environ}) as environment:
        child = _start(native_output, environment)

        def hear_task(message: AtStake | Outcome) -> None:
            if isinstance(message, Outcome) and isinstance(message.value, MeasureError):
                message.value.log = message.value.log or _tail(native_output)
            if on_task is not None:
                on_task(message)

        try:
            value = _attend(child, Job(target, arguments, limits.memory_bytes), limits, on_progress, hear_task, cancel)
        except _DiedError as died:
            raise _why_it_died(died, _tail(native_output)) from None
        except MeasureError as error:
            error.log = error.log or _tail(native_output)
            raise
        finally:
            _end(child)
    if not isinstance(value, returns):
        raise MeasureError(f"the device process answered {value!r} where {returns.__name__} was due")
    return value


class _DiedError(Exception):
    """The child ended without an answer."""

    def __init__(self, status: int, phase: Phase) -> None:
        super().__init__(status)
        self.status = status
        self.phase = phase


def _start(native_output: IO[bytes], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", BOOT, *_search_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=native_output,
            env=environment,
            start_new_session=True,  # a process group to end PoCL's compilers and linkers with
        )
    except OSError as error:
        raise MeasureError(f"the device process cannot be started with {sys.executable}: {error.strerror}") from error


def _search_path() -> list[str]:
    """Our own sys.path without the working folder: a user's own `model/` must never be imported."""
    home = Path(__file__).resolve().parent.parent
    here = Path.cwd()
    return [
        entry for entry in sys.path if entry and Path(entry).is_absolute() and (Path(entry) != here or here == home)
    ]


def _attend(
    child: subprocess.Popen[bytes],
    job: Job,
    limits: Limits,
    on_progress: OnProgress | None,
    on_task: OnTask,
    cancel: CancelToken | None,
) -> object:
    assert child.stdin is not None
    messages: queue.Queue[Message | None] = queue.Queue()
    threading.Thread(target=_read, args=(child, messages), daemon=True).start()
    # Stays open: that it closes tells the child that its parent is gone.
    with contextlib.suppress(BrokenPipeError):
        pickle.dump(job, child.stdin)
        child.stdin.flush()

    phase = limits.phase
    deadline = time.monotonic() + phase.limit_s
    while True:
        if cancel is not None and cancel.is_set():
            raise Cancelled("cancelled")
        if time.monotonic() > deadline:
            raise TimedOut(
                _sentence(f"{phase.subject} ran longer than {phase.limit_s:g} s and was stopped", phase.on_timeout)
            )
        try:
            message = messages.get(timeout=POLL_S)
        except queue.Empty:
            continue
        match message:
            case None:
                raise _DiedError(child.wait(), phase)
            case Done(value):
                return value
            case Failed(error):
                raise error
            case AtStake() | Outcome():
                on_task(message)
            case Progress(fraction, text, next_phase):
                if next_phase is not None:
                    phase = next_phase
                    deadline = time.monotonic() + phase.limit_s
                if on_progress is not None:
                    on_progress(fraction, text)


def _read(child: subprocess.Popen[bytes], messages: queue.Queue[Message | None]) -> None:
    """Move messages from the pipe to the queue; None at its end."""
    assert child.stdout is not None
    try:
        while True:
            messages.put(pickle.load(child.stdout))
    except (EOFError, pickle.UnpicklingError, OSError, ValueError):
        messages.put(None)  # ended, maybe in the middle of a message


def _end(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _tail(native_output: IO[bytes]) -> str:
    # Without seeking: a child that still writes shares the position.
    number = native_output.fileno()
    size = os.fstat(number).st_size
    return os.pread(number, LOG_BYTES, max(0, size - LOG_BYTES)).decode("utf-8", "replace").strip()


def _why_it_died(died: _DiedError, log: str) -> MeasureError:
    subject = died.phase.subject
    if "out of memory" in log.lower() or "bad_alloc" in log:
        return OutOfResources(f"{subject} ran out of memory: choose smaller buffers", log=log)
    if "Final linking of kernel" in log:
        return BuildFailed(NO_LINKER, log=log)
    if died.status < 0:
        name = _signal_name(-died.status)
        why = {
            "SIGKILL": "the system ended it, most likely because memory ran out; choose smaller buffers",
            "SIGFPE": "an integer division by zero, most likely; check the scalar arguments of this launch",
            "SIGILL": "its code holds an instruction that this processor lacks",
        }
        return KernelCrashed(_sentence(f"{subject} crashed ({name})", why.get(name, died.phase.on_crash)), log=log)
    last = log.rsplit("\n", 1)[-1] if log else f"exit status {died.status}"
    return MeasureError(f"{subject} ended without an answer: {last}", log=log)


def _sentence(what: str, advice: str) -> str:
    return f"{what}: {advice}" if advice else what


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
