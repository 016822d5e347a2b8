"""Real kernel arguments on the device, from a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyopencl as cl

from profiler.arguments import (
    PAD_BYTES,
    Argument,
    BufferArgument,
    ImageArgument,
    LocalArgument,
    SamplerArgument,
    ValueArgument,
)
from profiler.child.contents import Array, contents
from profiler.measurement import NeedsAnnotation

RESET_LIMIT_BYTES = 64 * 1024 * 1024  # beyond this, putting contents back between batches takes too long
CHANNELS = {
    "float": ((cl.channel_type.FLOAT, np.float32), (cl.channel_type.UNORM_INT8, np.uint8)),
    "int": ((cl.channel_type.SIGNED_INT32, np.int32), (cl.channel_type.SIGNED_INT8, np.int8)),
    "uint": ((cl.channel_type.UNSIGNED_INT32, np.uint32), (cl.channel_type.UNSIGNED_INT8, np.uint8)),
}
IMAGE_KINDS = {  # (kind, dimensions of its shape)
    "image1d_t": (cl.mem_object_type.IMAGE1D, 1),
    "image1d_array_t": (cl.mem_object_type.IMAGE1D_ARRAY, 2),
    "image1d_buffer_t": (cl.mem_object_type.IMAGE1D_BUFFER, 1),
    "image2d_t": (cl.mem_object_type.IMAGE2D, 2),
    "image2d_array_t": (cl.mem_object_type.IMAGE2D_ARRAY, 3),
    "image3d_t": (cl.mem_object_type.IMAGE3D, 3),
}
Value = Any  # whatever PyOpenCL takes as a kernel argument: a memory object, bytes, a sampler


@dataclass(slots=True)
class Arguments:
    """What the kernel is called with, and the pristine contents of what it may change."""

    values: list[Value] = field(default_factory=list)
    pristine: list[tuple[cl.Buffer, Array]] = field(default_factory=list)

    def reset(self, queue: cl.CommandQueue) -> None:
        """Put back the contents of every buffer that the kernel may have changed."""
        for buffer, data in self.pristine:
            cl.enqueue_copy(queue, buffer, data)
        queue.finish()


Place = Callable[[BufferArgument, Array], cl.Buffer]  # the driver's buffer with these contents


def allocate(
    plan: tuple[Argument, ...], context: cl.Context, queue: cl.CommandQueue, place: Place | None = None
) -> Arguments:
    """Create and fill everything in `plan`; buffers are padded, unless `place` makes them."""
    made = Arguments()
    place = place or (lambda _, data: _padded(data, context, queue))
    lengths = [argument.length for argument in plan if isinstance(argument, BufferArgument)]
    shortest = min(lengths, default=0)
    changing_bytes = sum(a.size_bytes for a in plan if isinstance(a, BufferArgument) and a.is_written)
    for argument in plan:
        match argument:
            case BufferArgument():
                data = contents(argument, shortest)
                buffer = place(argument, data)
                made.values.append(buffer)
                if argument.is_written and changing_bytes < RESET_LIMIT_BYTES:
                    made.pristine.append((buffer, data))
            case LocalArgument(_, size_bytes):
                made.values.append(cl.LocalMemory(max(1, size_bytes)))
            case ValueArgument(_, data_bytes):
                made.values.append(data_bytes)
            case ImageArgument():
                made.values.append(_image(argument, context))
            case SamplerArgument():
                sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
                made.values.append(sampler)
    queue.finish()
    return made


def _padded(data: Array, context: cl.Context, queue: cl.CommandQueue) -> cl.Buffer:
    room = min(data.nbytes + PAD_BYTES, max(int(context.devices[0].max_mem_alloc_size), data.nbytes))
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, room)
    if room > data.nbytes:
        cl.enqueue_copy(queue, buffer, np.zeros(room - data.nbytes, np.uint8), dst_offset=data.nbytes)
    if data.nbytes:
        cl.enqueue_copy(queue, buffer, data)
    return buffer


def _image(argument: ImageArgument, context: cl.Context) -> cl.Image:
    name = argument.type.name
    if name not in IMAGE_KINDS:
        raise NeedsAnnotation(f"image `{argument.name}` is an `{name}`, which cannot be measured yet")
    kind, dimensions = IMAGE_KINDS[name]
    flags = {"read_only": cl.mem_flags.READ_ONLY, "write_only": cl.mem_flags.WRITE_ONLY}.get(
        argument.access, cl.mem_flags.READ_WRITE
    )
    image_format, dtype = _format(argument, kind, flags, context)
    width, height, depth = (max(1, n) for n in argument.size)
    if name == "image1d_array_t":
        height = max(height, depth)  # layers, wherever they were written
    shape = (width, height, depth)[:dimensions]
    texels = _texels(shape, dtype)
    if name == "image1d_buffer_t":
        backing = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=texels)
        return cl.create_image(context, flags, image_format, shape, buffer=backing)
    # Filled at its creation: PyOpenCL's copy does not know one-dimensional images.
    filled = cast(cl.mem_flags, flags | cl.mem_flags.COPY_HOST_PTR)
    return cl.create_image(context, filled, image_format, shape, hostbuf=texels, is_array="array" in name)


def _texels(shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    rng = np.random.default_rng(1)
    texels = (*reversed(shape), 4)
    return rng.random(texels, np.float32) if dtype is np.float32 else rng.integers(0, 128, texels).astype(dtype)


def _format(
    argument: ImageArgument, kind: cl.mem_object_type, flags: cl.mem_flags, context: cl.Context
) -> tuple[cl.ImageFormat, type[np.generic]]:
    supported = cl.get_supported_image_formats(context, flags, kind)
    for channel, dtype in CHANNELS[argument.channel]:
        wanted = cl.ImageFormat(cl.channel_order.RGBA, channel)
        if wanted in supported:
            return wanted, dtype
    raise NeedsAnnotation(f"image `{argument.name}`: this device has no RGBA format for read_image/write_image of it")
