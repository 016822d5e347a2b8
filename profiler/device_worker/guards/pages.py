"""Memory between pages that nothing may touch: one step outside of it is a fault (mmap(2), mprotect(2))."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import mmap
import os
import sys
from enum import Enum

import numpy as np
import pyopencl as cl

from model.opencl.types import round_up
from profiler.device_worker.guards.canaries import Bytes, changed, laid_out

PROT_NONE, READ_WRITE = 0, mmap.PROT_READ | mmap.PROT_WRITE
MAP_NORESERVE = 0x4000  # Linux, on x86-64 and AArch64
MAP_FAILED = ctypes.c_void_p(-1).value
# An index of 32 bits that wraps around reaches so far. Address space costs nothing, where it is not limited.
INDEX_RANGE = 1 << 32
WIDEST_GUARD_BYTES, LEAST_GUARD_BYTES = 1 << 38, 1 << 20
MOST_OPENED_BYTES = 1 << 24  # at once


class Flush(Enum):
    """At which guard the memory lies without a gap."""

    END = "end"
    START = "start"


def is_supported() -> bool:
    """Return whether this system's calls are those that this file knows."""
    return sys.platform == "linux" and ctypes.sizeof(ctypes.c_void_p) == 8


class GuardedMemory:
    """`size_bytes` of zeros at `start`, between guards that reach from `guarded_from` and to `guarded_to`.

    What lies between the memory and the guard that it is not flush against holds canaries: a store there is found by
    `changed_canary`, a load is not. Raises MemoryError if the system gives no more.
    """

    def __init__(
        self, size_bytes: int, align_bytes: int, element_bytes: int, flush: Flush, canary: bytes = b"\1"
    ) -> None:
        page = mmap.PAGESIZE
        self.size_bytes = size_bytes
        self._opened = 0
        self._canary = canary
        self._room = round_up(size_bytes, page)
        self._guard = _guard_bytes(element_bytes)
        self.guarded_from = self._reserve()
        self._body = self.guarded_from + self._guard
        self.guarded_to = self._body + self._room + self._guard
        # An empty buffer lies in the guard as a whole: all of its elements are beyond its end.
        gap = 0 if flush is Flush.START else (self._room - size_bytes) // align_bytes * align_bytes
        self.start = self._body + gap
        if self._room:
            try:
                _mprotect(self._body, self._room, READ_WRITE)
            except OSError as error:
                self.release()
                raise MemoryError(size_bytes) from error
            self._slack(0, gap)[:] = laid_out(canary, gap)
            behind = self._slack(gap + size_bytes, self._room)
            behind[:] = laid_out(canary, behind.size)

    def bytes(self) -> Bytes:
        """Return the memory itself; not to be used after `release`."""
        return _view(self.start, self.size_bytes)

    def as_buffer(self, context: cl.Context) -> cl.Buffer:
        """Return the driver's buffer in this very memory."""
        # An empty one is not allowed; a byte that nothing may touch stands for it.
        host = _view(self.start, max(1, self.size_bytes))
        return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, hostbuf=host)

    def changed_canary(self) -> int | None:
        """Return the address of the byte nearest to the memory that should be a canary and is not."""
        gap = self.start - self._body
        behind = changed(self._slack(gap + self.size_bytes, self._room), self._canary)
        if behind.size:
            return self.start + self.size_bytes + int(behind[0])
        front = changed(self._slack(0, gap), self._canary)
        return self._body + int(front[-1]) if front.size else None

    def is_tight(self) -> bool:
        """Return whether both ends lie flush against their guards."""
        return self.size_bytes == self._room

    def open_guard(self, address: int) -> bool:
        """Let accesses at `address` pass from now on, and to ever more beyond it; False if it is in none of the guards.

        So a kernel that has left its buffers comes to an end, and shows how far it goes.
        """
        size_bytes = min(mmap.PAGESIZE << self._opened, MOST_OPENED_BYTES)
        page = address - address % mmap.PAGESIZE
        behind = self._body + self._room
        if self.guarded_from <= address < self._body:
            begin, end = max(self.guarded_from, page + mmap.PAGESIZE - size_bytes), page + mmap.PAGESIZE
        elif behind <= address < self.guarded_to:
            begin, end = page, min(self.guarded_to, page + size_bytes)
        else:
            return False
        self._opened += 1
        with contextlib.suppress(OSError):
            _mprotect(begin, end - begin, READ_WRITE)
            return True
        return False

    def release(self) -> None:
        _libc().munmap(self.guarded_from, self.guarded_to - self.guarded_from)

    def _reserve(self) -> int:
        while True:
            size = self._room + 2 * self._guard
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
            address = _libc().mmap(None, size, PROT_NONE, flags, -1, 0)
            if address not in (None, MAP_FAILED):
                return int(address)
            if ctypes.get_errno() != errno.ENOMEM or self._guard <= LEAST_GUARD_BYTES:
                raise MemoryError(self.size_bytes)
            self._guard //= 4

    def _slack(self, begin: int, end: int) -> Bytes:
        return _view(self._body + begin, end - begin)


def _guard_bytes(element_bytes: int) -> int:
    return max(LEAST_GUARD_BYTES, min(WIDEST_GUARD_BYTES, round_up(INDEX_RANGE * element_bytes, mmap.PAGESIZE)))


def _view(address: int, size_bytes: int) -> Bytes:
    if not size_bytes:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size_bytes).from_address(address))


def _mprotect(address: int, size_bytes: int, protection: int) -> None:
    if _libc().mprotect(address, size_bytes, protection):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc
