"""One job in a device process of its own, which may crash, hang or be cancelled without harm to its parent.

Why `subprocess` and not `pebble` or `multiprocessing`: those start children that import the parent's `__main__`
(here the language server), inherit its stdin and stdout (the editor's protocol stream), leave a resource tracker
behind that holds both open, and do not tell the child's process id in time, so that PoCL's compilers and linkers
could not be ended together with the child. `subprocess` gives a clean interpreter, a session of its own and an id.

The child sends pickled messages over what was its stdout; its native output goes to a file that ends up in `log`.
That file, temporary files and what PoCL compiles lie in one folder for each job, which goes when the job does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

from profiler.measurement import Cancelled, MeasureError, TimedOut
from profiler.process.drivers import driver_environment
from profiler.process.exit_diagnosis import sentence, why_it_died
from profiler.process.framing import Inbox
from profiler.process.messages import FOLDER_VARIABLE, AtStake, Done, Failed, Job, Outcome, Phase, Progress
from profiler.process.temp_cleanup import NATIVE_OUTPUT, PREFIX, claim, remove_leftovers

OnProgress = Callable[[float, str], None]  # (fraction done in 0..1, what is going on)
OnTask = Callable[[AtStake | Outcome], None]  # of a job with many tasks
T = TypeVar("T")
POLL_S = 0.05
TELL_EVERY_S = 0.05  # progress at most so often, however much of it comes
LEAVING_S = 5.0  # for a process that has said its last word, or was killed, to be gone
# Unpinned, both of PoCL's workers often share a core and times flip between t and 2t.
DEFAULTS = {"POCL_AFFINITY": "1", "PYOPENCL_NO_CACHE": "1", "PYOPENCL_COMPILER_OUTPUT": "0"}
WHOLE_JOB = Phase("the device process", 600.0)
LOG_BYTES = 8192  # of the child's native output, from its end
BOOT = "import sys; sys.path[:] = sys.argv[1:]; from profiler.device_worker.main import main; main()"


class CancelToken(Protocol):
    """`threading.Event` is one."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device process may use. `phase` is its first; the job may begin others.

    `memory_bytes` 0: what the machine, or the container, has free when the job begins, less a tenth.
    """

    phase: Phase = WHOLE_JOB
    memory_bytes: int = 0
    niceness: int = 0  # of it and all that it starts, for what nobody waits for


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
    with _job_folder() as folder, _native_output(folder) as native_output:
        child = _start(native_output, folder)

        def hear_task(message: AtStake | Outcome) -> None:
            if isinstance(message, Outcome) and isinstance(message.value, MeasureError):
                message.value.log = message.value.log or _tail(native_output)
            if on_task is not None:
                on_task(message)

        try:
            with _sending(child, Job(target, arguments, limits.memory_bytes, limits.niceness)):
                value = _attend(child, limits, _Teller(on_progress), hear_task, cancel)
        except _DiedError as died:
            raise why_it_died(died.status, died.phase, _tail(native_output), _free_bytes(folder)) from None
        except MeasureError as error:
            error.log = error.log or _tail(native_output)
            raise
        finally:
            _end(child)
    if not isinstance(value, returns):
        raise MeasureError(f"the device process answered {value!r} instead of {returns.__name__}")
    return value


NO_PROCESS_GROUPS = (
    "devices cannot be used on Windows itself, as their processes could not be ended safely there; run Kernelcast in "
    "WSL 2, or predict for a device that `kernelcast devices --all` lists, with --device"
)


class _DiedError(Exception):
    """The child ended without an answer."""

    def __init__(self, status: int, phase: Phase) -> None:
        super().__init__(status)
        self.status = status
        self.phase = phase


class _Teller:
    """Passes progress on, but no faster than anybody can read: a flood of it would keep the editor busy."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._next_s = 0.0
        self._untold: tuple[float, str] | None = None

    def hear(self, fraction: float, text: str, *, at_once: bool = False) -> None:
        self._untold = (fraction, text)
        self.tell_if_due(at_once=at_once)

    def tell_if_due(self, *, at_once: bool = False) -> None:
        now_s = time.monotonic()
        if self._untold is None or self._on_progress is None or (now_s < self._next_s and not at_once):
            return
        self._on_progress(*self._untold)
        self._untold, self._next_s = None, now_s + TELL_EVERY_S


@contextmanager
def _job_folder() -> Iterator[Path]:
    """Create a folder for all that the device process and its drivers write, and remove it in any case."""
    base = _base()
    remove_leftovers(base)
    with _room_needed():
        made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=base, ignore_cleanup_errors=True)
    with made as folder:
        yield Path(folder)


def _base() -> str:
    """Return the folder for temporary files; another if it has blanks, at which compilers split what they are told."""
    chosen = tempfile.gettempdir()
    others = (each for each in ("/tmp", "/var/tmp") if os.access(each, os.W_OK | os.X_OK))
    return next(others, chosen) if re.search(r"\s", chosen) else chosen


def _free_bytes(folder: Path) -> int:
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize


def _native_output(folder: Path) -> IO[bytes]:
    with _room_needed():
        output = (folder / NATIVE_OUTPUT).open("w+b")
    claim(output)
    return output


@contextmanager
def _room_needed() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MeasureError(
            f"no temporary file can be made ({error.strerror}); free some space, or set TMPDIR to another folder"
        ) from error


def _start(native_output: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
    if not hasattr(os, "killpg"):
        raise MeasureError(NO_PROCESS_GROUPS)
    # PoCL leaves files behind in its cache with every process, killed or not.
    own = {FOLDER_VARIABLE: str(folder), "TMPDIR": str(folder)}
    try:
        (folder / "pocl").mkdir()
        environment = driver_environment({**DEFAULTS, "POCL_CACHE_DIR": str(folder / "pocl"), **os.environ}, folder)
        return subprocess.Popen(
            [sys.executable, "-I", "-c", BOOT, *search_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=native_output,
            env={**environment, **own},
            start_new_session=True,  # a process group to end PoCL's compilers and linkers with
        )
    except OSError as error:
        raise MeasureError(f"the device process cannot be started with {sys.executable}: {error.strerror}") from error


def search_path() -> list[str]:
    """Our own sys.path without the working folder: a user's own `model/` must never be imported."""
    home = Path(__file__).resolve().parents[2]
    here = Path.cwd()
    return [
        entry for entry in sys.path if entry and Path(entry).is_absolute() and (Path(entry) != here or here == home)
    ]


@contextmanager
def _sending(child: subprocess.Popen[bytes], job: Job) -> Iterator[None]:
    """Give it the job while what it says is heard already: one that hangs as it starts takes in nothing."""
    assert child.stdin is not None
    stdin = child.stdin

    def send() -> None:
        # Stays open afterwards: that it closes tells the child that its parent is gone.
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(job, stdin)
            stdin.flush()

    sender = threading.Thread(target=send, name="sends a job", daemon=True)
    sender.start()
    try:
        yield
    finally:
        if sender.is_alive():
            _kill(child)  # which breaks the pipe
            sender.join(LEAVING_S)


def _attend(
    child: subprocess.Popen[bytes], limits: Limits, teller: _Teller, on_task: OnTask, cancel: CancelToken | None
) -> object:
    assert child.stdout is not None
    inbox = Inbox(child.stdout)
    phase = limits.phase
    deadline_s = time.monotonic() + phase.limit_s
    while True:
        if cancel is not None and cancel.is_set():
            raise Cancelled("cancelled")
        if time.monotonic() > deadline_s:
            raise TimedOut(
                sentence(f"{phase.subject} ran longer than {phase.limit_s:g} s and was stopped", phase.on_timeout)
            )
        # Asked before the pipe is: what it said last must be heard, though others may hold the pipe open.
        is_gone = child.poll() is not None
        for message in inbox.wait(0 if is_gone else POLL_S):
            match message:
                case Done(value):
                    teller.tell_if_due(at_once=True)
                    return value
                case Failed(error):
                    raise error
                case AtStake() | Outcome():
                    teller.tell_if_due(at_once=True)  # afterwards it would be taken for another task's
                    on_task(message)
                case Progress(fraction, text, next_phase):
                    if next_phase is not None:
                        phase = next_phase
                        deadline_s = time.monotonic() + phase.limit_s
                    teller.hear(fraction, text, at_once=next_phase is not None)
        teller.tell_if_due()
        if inbox.has_ended or (is_gone and inbox.is_quiet):
            raise _DiedError(_exit_status(child, phase), phase)


def _exit_status(child: subprocess.Popen[bytes], phase: Phase) -> int:
    try:
        return child.wait(LEAVING_S)
    except subprocess.TimeoutExpired:
        raise MeasureError(f"{phase.subject} closed its connection without an answer") from None


def _end(child: subprocess.Popen[bytes]) -> None:
    _kill(child)
    # One that a driver holds inside the kernel cannot even be killed; the system ends it when it comes out.
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(LEAVING_S)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
        os.killpg(child.pid, signal.SIGKILL)


def _tail(native_output: IO[bytes]) -> str:
    # Without seeking: a child that still writes shares the position.
    number = native_output.fileno()
    size = os.fstat(number).st_size
    return os.pread(number, LOG_BYTES, max(0, size - LOG_BYTES)).decode("utf-8", "replace").strip()
