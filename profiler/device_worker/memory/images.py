"""Real images on the device, from a plan."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyopencl as cl

from model.contents.buffer import CHANNELS, image_contents
from model.opencl.types import ScalarKind, ScalarType
from profiler.arguments import ImageArgument
from profiler.device_worker.memory.layout import Array, Layout
from profiler.measurement import MeasureError, NeedsAnnotation

FORMATS = {
    "float": ((cl.channel_type.FLOAT, np.float32), (cl.channel_type.UNORM_INT8, np.uint8)),
    "int": ((cl.channel_type.SIGNED_INT32, np.int32), (cl.channel_type.SIGNED_INT8, np.int8)),
    "uint": ((cl.channel_type.UNSIGNED_INT32, np.uint32), (cl.channel_type.UNSIGNED_INT8, np.uint8)),
}
TEXEL_CHANNELS = {
    ("f", 4): ScalarType("float", ScalarKind.FLOAT, 4),
    ("i", 4): ScalarType("int", ScalarKind.SIGNED, 4),
    ("u", 4): ScalarType("uint", ScalarKind.UNSIGNED, 4),
    ("i", 1): ScalarType("char", ScalarKind.SIGNED, 1),
    ("u", 1): ScalarType("uchar", ScalarKind.UNSIGNED, 1),
}
IMAGE_KINDS = {  # (kind, dimensions of its shape)
    "image1d_t": (cl.mem_object_type.IMAGE1D, 1),
    "image1d_array_t": (cl.mem_object_type.IMAGE1D_ARRAY, 2),
    "image1d_buffer_t": (cl.mem_object_type.IMAGE1D_BUFFER, 1),
    "image2d_t": (cl.mem_object_type.IMAGE2D, 2),
    "image2d_array_t": (cl.mem_object_type.IMAGE2D_ARRAY, 3),
    "image3d_t": (cl.mem_object_type.IMAGE3D, 3),
}


def make_image(argument: ImageArgument, context: cl.Context, layout: Layout) -> cl.Image:
    """Create and fill an image. Raises NeedsAnnotation for what cannot be supplied."""
    name = argument.type.name
    if name not in IMAGE_KINDS:
        raise NeedsAnnotation(f"image `{argument.name}` is an `{name}`, which cannot be measured yet")
    if not context.devices[0].image_support:
        raise MeasureError(f"image `{argument.name}`: this device has no images")
    kind, dimensions = IMAGE_KINDS[name]
    flags = {"read_only": cl.mem_flags.READ_ONLY, "write_only": cl.mem_flags.WRITE_ONLY}.get(
        argument.access, cl.mem_flags.READ_WRITE
    )
    image_format, dtype = _format(argument, kind, flags, context)
    width, height, depth = (max(1, n) for n in argument.size)
    if name == "image1d_array_t":
        height = max(height, depth)  # layers, wherever they were written
    shape = (width, height, depth)[:dimensions]
    how, memory = layout.image_memory(argument, (*reversed(shape), CHANNELS), np.dtype(dtype))
    _write_texels(argument.name, memory)
    if name == "image1d_buffer_t":
        backing = cl.Buffer(context, cast(cl.mem_flags, cl.mem_flags.READ_WRITE | how), hostbuf=memory)
        return cl.create_image(context, flags, image_format, shape, buffer=backing)
    taken = cast(cl.mem_flags, flags | how)
    return cl.create_image(context, taken, image_format, shape, hostbuf=memory, is_array="array" in name)


def _write_texels(name: str, memory: Array) -> None:
    channel = TEXEL_CHANNELS[memory.dtype.kind, memory.dtype.itemsize]
    image_contents(name, channel, memory.size // CHANNELS).write(memory.reshape(-1).view(np.uint8))


def _format(
    argument: ImageArgument, kind: cl.mem_object_type, flags: cl.mem_flags, context: cl.Context
) -> tuple[cl.ImageFormat, type[np.generic]]:
    supported = cl.get_supported_image_formats(context, flags, kind)
    for channel, dtype in FORMATS[argument.channel]:
        wanted = cl.ImageFormat(cl.channel_order.RGBA, channel)
        if wanted in supported:
            return wanted, dtype
    raise NeedsAnnotation(f"image `{argument.name}`: this device has no RGBA format for read_image/write_image of it")
