"""Why a device process ended without an answer, in the user's words."""

from __future__ import annotations

import signal

from profiler.measurement import BuildFailed, KernelCrashed, MeasureError, OutOfResources
from profiler.process.messages import Phase

NO_LINKER = (
    "PoCL cannot link kernels: it needs a linker and the C library's files; "
    "install them (Debian, Ubuntu: apt-get install gcc libc6-dev)"
)
NO_ROOM = "there is no room for what the driver compiles; free some space, or set TMPDIR to a folder that has some"
FULL_BYTES = 64 * 1024  # less than a small kernel's code takes
_WHY = {
    "SIGKILL": "the system ended it, most likely because memory ran out; choose smaller buffers",
    "SIGXFSZ": "it wrote a file larger than it may; check what the kernel prints",
}
_WHY_OF_KERNELS = {
    "SIGFPE": "an integer division by zero, most likely; check the scalar arguments of this launch",
    "SIGILL": "its code holds an instruction that this processor lacks",
}


def why_it_died(status: int, phase: Phase, log: str, free_bytes: int) -> MeasureError:
    """From its exit status, what it was doing, its native output, and the room where it may write."""
    subject = phase.subject
    said = log.lower()
    if "out of memory" in said or "bad_alloc" in said or "cannot allocate memory" in said:
        return OutOfResources(f"{subject} ran out of memory: choose smaller buffers", log=log)
    # Where there is no room, there is none for a driver's last words either.
    if "no space left on device" in said or free_bytes < FULL_BYTES:
        return OutOfResources(f"{subject} could not go on: {NO_ROOM}", log=log)
    if "Final linking of kernel" in log:
        return BuildFailed(NO_LINKER, log=log)
    if status < 0:
        name = _signal_name(-status)
        whys = _WHY if phase.is_compiling else _WHY | _WHY_OF_KERNELS
        return KernelCrashed(sentence(f"{subject} crashed ({name})", whys.get(name, phase.on_crash)), log=log)
    last = log.rsplit("\n", 1)[-1] if log else f"exit status {status}"
    return MeasureError(f"{subject} ended without an answer: {last}", log=log)


def sentence(what: str, advice: str) -> str:
    """Return `what`, with advice behind a colon if there is some."""
    return f"{what}: {advice}" if advice else what


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
