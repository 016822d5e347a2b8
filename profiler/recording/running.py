"""Run the program to record, with its own streams, exit status and signals."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.errors import KernelcastError

# Signals sent to us are meant for the program. From a terminal it gets them itself, as part of the same group.
_FORWARDED = frozenset(
    getattr(signal, name)
    for name in (
        "SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGALRM", "SIGWINCH", "SIGTSTP",
    )
    if hasattr(signal, name)
)  # fmt: skip
_FROM_KERNEL = 0x80  # SI_KERNEL: sent by the terminal's driver
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # as shells, `env` and `nice` return them


class CannotRun(KernelcastError):
    """The program cannot be run. `status` is the exit status that a shell would return."""

    code = "cannot_run"

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def check_platform() -> None:
    """Raise CannotRun on systems that cannot wait for signals."""
    if not hasattr(signal, "sigwaitinfo"):
        raise CannotRun("`kernelcast record` needs Linux; import a log of the OpenCL Intercept Layer instead", 2)


def recording_environment(
    environment: Mapping[str, str], folder: Path, *, layer: Path | None, socket: Path | None, profile: bool
) -> dict[str, str]:
    """Return the environment in which a program is recorded into `folder`."""
    hook = str(Path(__file__).parent / "hook" / "site")
    changed = {**environment, "KERNELCAST_RECORD_DIR": str(folder)}
    changed["PYTHONPATH"] = os.pathsep.join(filter(None, (hook, environment.get("PYTHONPATH"))))
    if layer is not None:
        layers = filter(None, environment.get("OPENCL_LAYERS", "").split(os.pathsep))
        # The user's layers stay in front. A recording inside of a recorded program finds ours among them.
        changed["OPENCL_LAYERS"] = os.pathsep.join(dict.fromkeys([*layers, str(layer)]))
        changed["PYOPENCL_NO_CACHE"] = "1"  # PyOpenCL's cache builds programs from binaries, in which no source is seen
    if socket is not None:
        changed |= {"KERNELCAST_RECORD_CONTENTS": "1", "KERNELCAST_RECORD_SOCKET": str(socket)}
    if profile:
        changed["KERNELCAST_RECORD_PROFILE"] = "1"
    return changed


def run_program(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program to its end and return its exit status; 128 + n if signal n ended it. Raises CannotRun.

    The main thread must call it before it starts others: signals are waited for, not handled.
    """
    waited = {*_FORWARDED, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        child = _start(command, environment, before)
        while True:
            status = _next(child, signal.sigwaitinfo(waited))
            if status is not None:
                return status
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(command: Sequence[str], environment: Mapping[str, str], mask: set[int] | set[signal.Signals]) -> int:
    try:
        return os.posix_spawnp(
            command[0],
            list(command),
            environment,
            setsigmask=mask,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # which Python ignores
        )
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise CannotRun(f"{command[0]}: there is no such program", NOT_FOUND) from None
        raise CannotRun(f"{command[0]} cannot be run: {error.strerror}", NOT_EXECUTABLE) from None
    except ValueError as error:
        raise CannotRun(f"{command[0]!r} cannot be run: {error}", NOT_EXECUTABLE) from None


def _next(child: int, came: signal.struct_siginfo) -> int | None:
    """Handle one signal; return the exit status if the program ended."""
    if came.si_signo != signal.SIGCHLD:
        if came.si_code != _FROM_KERNEL:
            os.kill(child, came.si_signo)
        if came.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
        return None
    ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
