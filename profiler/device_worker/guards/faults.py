"""Catches the faults of kernels that run in this process, on any thread but the main one (sigaction(2)).

The handler is Python: a kernel's code holds no lock when it faults, and the main thread sleeps meanwhile, so that
Python's own lock is free. A fault of the main thread itself is left to the system: it is not a kernel's.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import platform
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, repeat
from types import TracebackType

import pyopencl as cl

SIGNALS = (signal.SIGSEGV, signal.SIGBUS)
SA_SIGINFO = 4
SI_KERNEL = 0x80  # no page was missing: the address was none at all, or not aligned as the instruction wants it
ADDRESS_AT = 16  # of si_addr in siginfo_t, on all 64-bit Linux
# Of REG_ERR in glibc's and musl's ucontext_t on x86-64: uc_flags, uc_link, uc_stack, then 19 registers. Bit 1: a write.
ERROR_CODE_AT, WRITE_BIT = 40 + 8 * 19, 2
GRACE_S = 1.0  # for a kernel that has left its buffers to come to an end by itself
PAUSES_S = (0.0001, 0.0001, 0.0005, 0.002)
MAX_PASSED = 64  # faults that are let pass, before the kernel is stopped where it is


class _SigAction(ctypes.Structure):
    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Fault:
    """`is_store` None where the processor does not tell; `has_address` False where no page was missing."""

    address: int
    is_store: bool | None
    has_address: bool
    signal: signal.Signals


class FaultTrap:
    """While entered, keeps the faults of all threads but the one that made it.

    `let_pass` is called with each fault's address and says whether the access may now be tried again; if not, the
    thread stops for ever where it is: then `is_stuck`, and this process can run nothing else.
    """

    def __init__(self, let_pass: Callable[[int], bool]) -> None:
        self.faults: list[Fault] = []
        self.is_stuck = False  # for good, in a handler
        self.is_running = False
        self._let_pass = let_pass
        self._handler = _HANDLER(self._on_fault)  # kept: the system knows it by its address alone
        self._before: dict[signal.Signals, _SigAction] = {}
        self._main = threading.get_ident()

    def run(self, queue: cl.CommandQueue, enqueue: Callable[[], cl.Event]) -> bool:
        """Run a kernel; False if it faulted and does not end, and so `is_running` for ever.

        Sleeps rather than waits, so that the handler can have Python's lock.
        """
        started = _begun_elsewhere(queue, enqueue)
        self.is_running = True
        give_up_at = math.inf
        for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
            if started.done() and (started.exception() is not None or _has_ended(started.result())):
                break
            if self.faults and give_up_at == math.inf:
                give_up_at = time.monotonic() + GRACE_S
            if self.is_stuck or time.monotonic() > give_up_at:
                return False
            time.sleep(pause_s)
        self.is_running = False
        started.result().wait()  # raises what the driver has to say
        return True

    def __enter__(self) -> FaultTrap:
        action = _SigAction(ctypes.cast(self._handler, ctypes.c_void_p), flags=SA_SIGINFO)
        for number in SIGNALS:
            self._before[number] = _SigAction()
            ctypes.CDLL(None).sigaction(int(number), ctypes.byref(action), ctypes.byref(self._before[number]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_running:  # other threads may yet fault
            for number in SIGNALS:
                self._restore(number)

    def _restore(self, number: signal.Signals) -> None:
        ctypes.CDLL(None).sigaction(int(number), ctypes.byref(self._before[number]), None)

    def _on_fault(self, number: int, info: int, context: int) -> None:
        if threading.get_ident() == self._main:
            self._restore(signal.Signals(number))  # and fault again, now for good
            return
        fault = _read(signal.Signals(number), info, context)
        self.faults.append(fault)
        passes = fault.has_address and len(self.faults) <= MAX_PASSED
        with contextlib.suppress(MemoryError):
            if passes and self._let_pass(fault.address):
                return
        self.is_stuck = True
        while True:
            time.sleep(3600.0)


def _begun_elsewhere(queue: cl.CommandQueue, enqueue: Callable[[], cl.Event]) -> Future[cl.Event]:
    """In a thread of its own: some drivers, such as PoCL's `basic`, run the kernel in the thread that asks for it."""
    started: Future[cl.Event] = Future()

    def begin() -> None:
        try:
            event = enqueue()
            queue.flush()
        except Exception as error:  # noqa: BLE001 - whoever waits raises it
            started.set_exception(error)
        else:
            started.set_result(event)

    threading.Thread(target=begin, name="begins a kernel", daemon=True).start()
    return started


def _has_ended(event: cl.Event) -> bool:
    return bool(event.command_execution_status <= cl.command_execution_status.COMPLETE)


def _read(number: signal.Signals, info: int, context: int) -> Fault:
    code = ctypes.c_int.from_address(info + 8).value
    address = ctypes.c_uint64.from_address(info + ADDRESS_AT).value
    is_store = None
    if platform.machine() in ("x86_64", "AMD64"):
        is_store = bool(ctypes.c_uint64.from_address(context + ERROR_CODE_AT).value & WRITE_BIT)
    return Fault(address, is_store, code != SI_KERNEL, number)
