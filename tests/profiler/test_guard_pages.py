"""Guarded memory really guards: whoever steps outside of it dies of it, and whoever stays inside does not."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.device_worker.guards.canaries import canary_of
from profiler.device_worker.guards.pages import Flush, GuardedMemory, is_supported
from tests.profiler.conftest import FLOAT

pytestmark = pytest.mark.skipif(not is_supported(), reason="guard pages are made by calls of Linux")

TOUCH = """
import ctypes, json, os, sys
from profiler.device_worker.guards.pages import Flush, GuardedMemory

def touch(size, flush, at, opens):
    memory = GuardedMemory(size, 1, 4, Flush(flush))
    if opens:
        assert memory.open_guard(memory.start + at)
    ctypes.c_uint8.from_address(memory.start + at).value = 7
    os._exit(0)

def died_of(case):
    child = os.fork()
    if not child:
        touch(*case)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

print(json.dumps([died_of(case) for case in json.loads(sys.argv[1])]))
"""


def touched(*cases: tuple[int, str, int, bool]) -> list[int]:
    """How a process ends that stores a byte: size of the memory, at which end it is flush, where, guard opened."""
    command = [sys.executable, "-c", TOUCH, json.dumps(cases)]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def test_a_store_beyond_the_flush_end_is_a_fault() -> None:
    ends = [(13, "end", 13), (13, "start", -1), (4096, "end", -1), (13, "end", 1 << 33), (0, "end", 0)]
    assert touched(*((*end, False) for end in ends)) == [-signal.SIGSEGV] * len(ends)


def test_a_store_inside_or_into_an_opened_guard_is_none() -> None:
    inside = [(13, "end", 12), (13, "end", 0), (13, "start", 0), (5000, "end", 4999)]
    assert touched(*((*place, False) for place in inside), (13, "end", 13, True)) == [0] * 5


@given(st.integers(1, 9000), st.sampled_from([1, 2, 4, 16, 128]), st.sampled_from(list(Flush)), st.data())
def test_a_store_into_the_gap_that_alignment_leaves_changes_a_canary(
    size: int, align: int, flush: Flush, data: st.DataObject
) -> None:
    memory = GuardedMemory(size, align, 4, flush, canary_of(FLOAT))
    try:
        assert memory.start % align == 0
        memory.bytes()[:] = 0
        assert memory.changed_canary() is None
        past = memory.start + size
        gap = -past % 4096
        if gap:
            at = past + data.draw(st.integers(0, gap - 1))
            ctypes.c_uint8.from_address(at).value = 99
            assert memory.changed_canary() == at
    finally:
        memory.release()
