"""How a device process ended is told in words that say what to do."""

from __future__ import annotations

import pytest

from profiler.measurement import BuildFailed, KernelCrashed, MeasureError, OutOfResources
from profiler.process.exit_diagnosis import FULL_BYTES, why_it_died
from profiler.process.messages import Phase

RUNNING = Phase("kernel `k`", 20.0, on_crash="most likely an access out of bounds")


@pytest.mark.parametrize(
    ("status", "log", "free_bytes", "kind", "said"),
    [
        (-11, "", 10**9, KernelCrashed, "kernel `k` crashed (SIGSEGV): most likely an access out of bounds"),
        (-9, "", 10**9, KernelCrashed, "kernel `k` crashed (SIGKILL): the system ended it, most likely because memory"),
        (-8, "", 10**9, KernelCrashed, "kernel `k` crashed (SIGFPE): an integer division by zero"),
        (-6, "std::bad_alloc", 10**9, OutOfResources, "kernel `k` ran out of memory: choose smaller buffers"),
        (-6, "fork: Cannot allocate memory", 10**9, OutOfResources, "kernel `k` ran out of memory"),
        (-6, "", FULL_BYTES - 1, OutOfResources, "there is no room for what the driver compiles; free some space"),
        (-6, "LLVM ERROR: No space left on device", 10**9, OutOfResources, "there is no room"),
        (1, "Final linking of kernel k failed", 10**9, BuildFailed, "needs a linker"),
        (1, "Traceback\nValueError: no", 10**9, MeasureError, "kernel `k` ended without an answer: ValueError: no"),
        (0, "", 10**9, MeasureError, "kernel `k` ended without an answer: exit status 0"),
    ],
)
def test_each_way_to_end_has_its_name(
    status: int, log: str, free_bytes: int, kind: type[MeasureError], said: str
) -> None:
    error = why_it_died(status, RUNNING, log, free_bytes)
    assert type(error) is kind
    assert said in error.message
    assert error.log == log


def test_a_compiler_that_crashes_says_nothing_of_the_kernels_code() -> None:
    compiling = Phase("compiling a.cl", 60.0, on_crash="the driver's compiler did not survive", is_compiling=True)
    told = why_it_died(-4, compiling, "", 10**9).message
    assert told == "compiling a.cl crashed (SIGILL): the driver's compiler did not survive"
