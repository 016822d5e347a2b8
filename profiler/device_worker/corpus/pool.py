"""Device buffers that are handed out again and again: to make one and touch its pages costs more than most launches.

Each is an allocation of the driver's own, so that it lies as the buffers of any program do. Its capacity is one of a
few, and what stands behind the part that is in use is zeros, as behind a measured launch's buffers.
"""

from __future__ import annotations

import ctypes
import mmap
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pyopencl as cl

from profiler.arguments import PAD_BYTES, BufferArgument
from profiler.device_worker.corpus.kept_contents import KeptContents, Key, content_key
from profiler.device_worker.memory.layout import Array, mapped
from profiler.measurement import MeasureError, OutOfResources

LEAST_BYTES = 1 << 14
MARK = np.frombuffer(b"kernelcast", np.uint8)
ZERO = np.zeros(1, np.uint8)
ROOMIEST = 2  # times the capacity that is needed; a roomier buffer waits for larger arguments
STEPS = 4  # capacities between two powers of two


class NoRoom(OutOfResources):
    """Other buffers are in the way, of this launch or of those that are ready beside it."""


@dataclass(slots=True, eq=False)
class Room:
    """A buffer of the pool.

    `holds` are the contents of its first `filled_bytes`; None once a kernel may have changed them. `memory` is the
    buffer's own, where the host may write it in place.
    """

    buffer: cl.Buffer
    capacity_bytes: int
    memory: Array | None
    holds: Key | None = None
    filled_bytes: int = 0
    is_touched: bool = False  # every page of it, so that no kernel is charged for that


class Pool:
    """Owns buffers up to `most_bytes`: those that are out, and those that wait."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue, most_bytes: int) -> None:
        self._context, self._queue = context, queue
        self._most_bytes = most_bytes
        self._contents = KeptContents()
        self._waiting: list[Room] = []  # those used last at the end
        self._total_bytes = 0

    def take(self, argument: BufferArgument, shortest_length: int) -> Room:
        """Return a buffer that holds the argument's contents. Raises NoRoom."""
        size_bytes = argument.size_bytes
        capacity_bytes = capacity_for(size_bytes + PAD_BYTES)
        key = content_key(argument, shortest_length)
        room = self._found(capacity_bytes, key, size_bytes) or self._made(capacity_bytes, argument.name)
        if room.holds != key or room.filled_bytes < size_bytes:
            room.holds = None
            try:
                self._fill(room, argument, shortest_length)
            except MeasureError:  # of a type whose contents are unknown
                self._waiting.append(room)
                raise
        elif room.filled_bytes > size_bytes:
            cl.enqueue_fill_buffer(self._queue, room.buffer, ZERO, size_bytes, PAD_BYTES)
        room.holds, room.filled_bytes = key, size_bytes
        return room

    def _fill(self, room: Room, argument: BufferArgument, shortest_length: int) -> None:
        behind = argument.size_bytes + PAD_BYTES
        lent = mapped(room.buffer, self._queue) if room.memory is None else nullcontext(room.memory)
        with lent as memory:
            memory[argument.size_bytes : behind] = 0
            if not room.is_touched:
                memory[behind :: mmap.PAGESIZE] = 0
                room.is_touched = True
            self._contents.write(argument, shortest_length, memory[: argument.size_bytes])

    def give_back(self, room: Room, *, is_written: bool) -> None:
        if is_written:
            room.holds = None
        self._waiting.append(room)

    def _found(self, capacity_bytes: int, key: Key, size_bytes: int) -> Room | None:
        """Of those that wait the best: with the very contents, or with nothing that another might want."""
        most_bytes = ROOMIEST * capacity_bytes
        fitting = [room for room in self._waiting if capacity_bytes <= room.capacity_bytes <= most_bytes]
        if not fitting:
            return None

        def worth(room: Room) -> tuple[bool, bool, int]:
            is_full = room.holds == key and room.filled_bytes >= size_bytes
            return is_full, room.holds is None, -room.capacity_bytes

        best = max(fitting, key=worth)
        self._waiting.remove(best)
        return best

    def _made(self, capacity_bytes: int, name: str) -> Room:
        while self._waiting and self._total_bytes + capacity_bytes > self._most_bytes:
            self._drop(self._waiting.pop(0))
        if self._total_bytes + capacity_bytes > self._most_bytes:
            raise NoRoom(
                f"buffer `{name}`: no room for another {capacity_bytes / 1e6:.0f} MB beside the launch's other buffers"
            )
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, capacity_bytes)
        self._total_bytes += capacity_bytes
        return Room(buffer, capacity_bytes, memory_of(buffer, self._queue))

    def _drop(self, room: Room) -> None:
        room.buffer.release()
        self._total_bytes -= room.capacity_bytes


def memory_of(buffer: cl.Buffer, queue: cl.CommandQueue) -> Array | None:
    """Return the bytes of a new buffer themselves, if kernels see at once what the host writes there; else None.

    CPU devices keep a buffer where they mapped it first, and to map it for each launch would cost up to a millisecond.
    """
    if not buffer.context.devices[0].type & cl.device_type.CPU:
        return None
    with mapped(buffer, queue) as lent:
        memory = np.ctypeslib.as_array((ctypes.c_uint8 * buffer.size).from_address(lent.ctypes.data))
    seen = np.zeros(len(MARK), np.uint8)
    memory[: len(MARK)] = MARK
    cl.enqueue_copy(queue, seen, buffer)
    return memory if np.array_equal(seen, MARK) else None


def capacity_for(size_bytes: int) -> int:
    """Return the least capacity that holds so many bytes: at most a quarter more."""
    size_bytes = max(LEAST_BYTES, size_bytes)
    step = max(1, (1 << (size_bytes - 1).bit_length()) // 2 // STEPS)
    return -(-size_bytes // step) * step
