"""Where the contents of buffers and images come to lie."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyopencl as cl

from profiler.arguments import PAD_BYTES, BufferArgument, ImageArgument
from profiler.child.memory.contents import Array


class Layout(Protocol):
    """Makes the memory that a kernel is given."""

    def buffer(self, argument: BufferArgument, data: Array) -> cl.Buffer:
        """A buffer that holds `data`."""

    def image_memory(self, argument: ImageArgument, texels: Array) -> tuple[cl.mem_flags, Array]:
        """The memory that an image is created from, and how it is to be taken."""


class PaddedLayout:
    """Ordinary memory of the driver's, with zeros behind each buffer."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        self._limit_bytes = int(context.devices[0].max_mem_alloc_size)

    def buffer(self, _argument: BufferArgument, data: Array) -> cl.Buffer:
        room = min(data.nbytes + PAD_BYTES, max(self._limit_bytes, data.nbytes))
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, room)
        if room > data.nbytes:
            padding = np.zeros(room - data.nbytes, np.uint8)
            cl.enqueue_copy(self._queue, buffer, padding, dst_offset=data.nbytes)
        if data.nbytes:
            cl.enqueue_copy(self._queue, buffer, data)
        return buffer

    def image_memory(self, _argument: ImageArgument, texels: Array) -> tuple[cl.mem_flags, Array]:
        # Filled at its creation: PyOpenCL's copy does not know one-dimensional images.
        return cl.mem_flags.COPY_HOST_PTR, texels
