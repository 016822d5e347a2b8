"""Layout of buffers and images in memory, and their contents before a kernel runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from model.contents.buffer import buffer_contents
from model.contents.leaves import UnknownContents
from profiler.arguments import PAD_BYTES, BufferArgument, ImageArgument
from profiler.measurement import NeedsAnnotation

Array = npt.NDArray[Any]


def write_contents(buffer: BufferArgument, shortest_length: int, memory: Array) -> None:
    """Fill `memory` with the contents of `buffer`. Raises NeedsAnnotation where these cannot be made up.

    `shortest_length` is that of the launch's shortest buffer, in elements: default integers stay below it.
    They are written where they are to lie, a piece at a time: a second copy of a large buffer might not find room.
    """
    try:
        contents = buffer_contents(buffer.name, buffer.element, buffer.length, buffer.fills, shortest_length)
    except UnknownContents as unknown:
        raise NeedsAnnotation(str(unknown)) from None
    contents.write(memory)


Write = Callable[[Array], None]  # fills the bytes that it is given


class Layout(Protocol):
    """Makes the memory that a kernel is given."""

    def buffer(self, argument: BufferArgument, write: Write) -> cl.Buffer:
        """Return a buffer that holds what `write` writes."""

    def image_memory(
        self, argument: ImageArgument, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[cl.mem_flags, Array]:
        """Return the memory that an image is created from when it has been filled, and how it is to be taken."""


class PaddedLayout:
    """Ordinary memory of the driver's, with zeros behind each buffer."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        device = context.devices[0]
        self._limit_bytes = int(device.max_mem_alloc_size)
        self._constant_limit_bytes = int(device.max_constant_buffer_size)  # on GPUs often 64 KiB, and no byte more

    def buffer(self, argument: BufferArgument, write: Write) -> cl.Buffer:
        size_bytes = argument.size_bytes
        limit_bytes = self._constant_limit_bytes if argument.is_constant else self._limit_bytes
        room = min(size_bytes + PAD_BYTES, max(limit_bytes, size_bytes))
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, room)
        with mapped(buffer, self._queue) as memory:
            memory[size_bytes:] = 0
            write(memory[:size_bytes])
        return buffer

    def image_memory(
        self, _argument: ImageArgument, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[cl.mem_flags, Array]:
        return copied_memory(shape, dtype)


@contextmanager
def mapped(buffer: cl.Buffer, queue: cl.CommandQueue) -> Iterator[Array]:
    """Its bytes, all of which must be written: CPUs write them in place, other devices get them at the end."""
    how = cl.map_flags.WRITE_INVALIDATE_REGION
    memory, _ = cl.enqueue_map_buffer(queue, buffer, how, 0, (buffer.size,), np.dtype(np.uint8))
    with memory.base:
        yield memory


def copied_memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[cl.mem_flags, Array]:
    """For an image of the driver's own. Filled at its creation: PyOpenCL's copy does not know one-dimensional ones."""
    return cl.mem_flags.COPY_HOST_PTR, np.empty(shape, dtype)
