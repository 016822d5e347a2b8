"""Known bytes beside a buffer, which a store beyond its ends changes: for devices that cannot guard memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from model.opencl.types import ScalarType, Type, VectorType, round_up
from profiler.arguments import PAD_BYTES, BufferArgument, ImageArgument
from profiler.bounds import Overrun, Room
from profiler.device_worker.memory.layout import Array, PaddedLayout, Write, copied_memory, mapped

Bytes = npt.NDArray[np.uint8]
WORD_BYTES = 4  # where elements have parts of several sizes


def canary_of(element: Type) -> bytes:
    """Return a one of the element's own size.

    It is harmless as an index if it is read, and not zero, which kernels often store.
    """
    match element:
        case ScalarType(size_bytes=size_bytes) | VectorType(element=ScalarType(size_bytes=size_bytes)):
            return b"\1".ljust(size_bytes, b"\0")
        case _:
            return b"\1".ljust(WORD_BYTES, b"\0")


def laid_out(canary: bytes, size_bytes: int) -> Bytes:
    """`size_bytes` of them, one behind the other."""
    return np.resize(np.frombuffer(canary, np.uint8), size_bytes)


def changed(memory: Bytes, canary: bytes) -> npt.NDArray[Any]:
    """Where `memory`, which was laid out with canaries, no longer holds them."""
    return np.flatnonzero(memory != laid_out(canary, memory.size))


class CanaryLayout:
    """Owns the buffers of one run."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        aligned_bytes = max(1, int(context.devices[0].mem_base_addr_align) // 8)
        self._pad_bytes = round_up(PAD_BYTES, aligned_bytes)
        self._limit_bytes = int(context.devices[0].max_mem_alloc_size)
        self._made: list[tuple[BufferArgument, cl.Buffer]] = []

    def buffer(self, argument: BufferArgument, write: Write) -> cl.Buffer:
        """Return a part of a larger one, between its pads; where the device allows none so large, without canaries."""
        begin, end = self._pad_bytes, self._pad_bytes + argument.size_bytes
        size_bytes = max(1, argument.size_bytes)  # none may be empty
        if size_bytes + 2 * self._pad_bytes > self._limit_bytes:
            return PaddedLayout(self._context, self._queue).buffer(argument, write)
        whole = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size_bytes + 2 * self._pad_bytes)
        canary = canary_of(argument.element)
        with mapped(whole, self._queue) as memory:
            for pad in (memory[:begin], memory[end:]):
                pad[:] = laid_out(canary, pad.size)
            write(memory[begin:end])
        self._made.append((argument, whole))
        return whole.get_sub_region(self._pad_bytes, size_bytes)

    def image_memory(
        self, _argument: ImageArgument, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[cl.mem_flags, Array]:
        return copied_memory(shape, dtype)

    def overrun(self) -> Overrun | None:
        """Return the store nearest to its buffer, of the first buffer that was left; None if all canaries live."""
        for argument, whole in self._made:
            canary, size_bytes = canary_of(argument.element), argument.size_bytes
            room = Room(argument.name, argument.element, argument.length, 0, 0, 0)
            for begin, nearest in ((self._pad_bytes + size_bytes, 0), (0, -1)):
                pad = np.zeros(self._pad_bytes, np.uint8)
                cl.enqueue_copy(self._queue, pad, whole, src_offset=begin)
                if (at := changed(pad, canary)).size:
                    return Overrun(room, begin + int(at[nearest]) - self._pad_bytes, is_store=True)
        return None
