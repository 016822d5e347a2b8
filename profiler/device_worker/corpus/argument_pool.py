"""Arguments for one launch after the other: buffers from a pool, images and samplers that are kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import pyopencl as cl

from model.opencl.kernel import Kernel
from model.opencl.types import AddressSpace, PointerType
from profiler.arguments import (
    Argument,
    BufferArgument,
    ImageArgument,
    LocalArgument,
    SamplerArgument,
    ValueArgument,
)
from profiler.device_worker.corpus.bound_launch import Pristine, Value
from profiler.device_worker.corpus.pool import Pool, Room
from profiler.device_worker.memory.allocation import shortest_length
from profiler.device_worker.memory.images import make_image
from profiler.device_worker.memory.layout import PaddedLayout

MOST_IMAGES_BYTES = 1 << 28


class Supply:
    """Owns what launches are given. No two arguments of one launch share memory."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue, most_bytes: int) -> None:
        self._context, self._queue = context, queue
        self._pool = Pool(context, queue, most_bytes)
        self._layout = PaddedLayout(context, queue)
        self._out: list[tuple[Room, bool]] = []
        self._images: OrderedDict[tuple[object, ...], tuple[cl.Image, int]] = OrderedDict()
        self._images_bytes = 0
        self._sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)

    def take(self, plan: Sequence[Argument], written: frozenset[str]) -> list[Value]:
        """Return a value for each argument. `written` names the buffers that a run may change.

        Raises OutOfResources, and NeedsAnnotation for what cannot be supplied.
        """
        shortest = shortest_length(plan)
        values: list[Value] = []
        for argument in plan:
            match argument:
                case BufferArgument():
                    values.append(self._buffer(argument, shortest, is_written=argument.name in written))
                case LocalArgument(_, size_bytes):
                    values.append(cl.LocalMemory(max(1, size_bytes)))
                case ValueArgument(_, data_bytes):
                    values.append(data_bytes)
                case ImageArgument():
                    values.append(self._image(argument))
                case SamplerArgument():
                    values.append(self._sampler)
        return values

    def pristine(self, plan: Sequence[Argument], names: frozenset[str]) -> list[Pristine]:
        """Return one more copy of each buffer of these names, which no run touches. Raises OutOfResources."""
        shortest = shortest_length(plan)
        return [
            Pristine(position, self._buffer(argument, shortest, is_written=False), argument.size_bytes)
            for position, argument in enumerate(plan)
            if isinstance(argument, BufferArgument) and argument.name in names and argument.length
        ]

    def give_back(self) -> None:
        """Everything that is out, once no launch uses it any more."""
        for room, is_written in self._out:
            self._pool.give_back(room, is_written=is_written)
        self._out.clear()

    def _buffer(self, argument: BufferArgument, shortest_length: int, *, is_written: bool) -> cl.Buffer:
        room = self._pool.take(argument, shortest_length)
        self._out.append((room, is_written))
        return room.buffer

    def _image(self, argument: ImageArgument) -> cl.Image:
        """Return one for each name, so that those of a launch differ; only what is never written is kept."""
        if argument.access != "read_only":
            return make_image(argument, self._context, self._layout)
        key = (argument.name, argument.type.name, argument.channel, argument.size)
        if key in self._images:
            self._images.move_to_end(key)
            return self._images[key][0]
        made = make_image(argument, self._context, self._layout)
        self._images[key] = made, argument.size_bytes
        self._images_bytes += argument.size_bytes
        while self._images_bytes > MOST_IMAGES_BYTES and len(self._images) > 1:
            _, (_, size_bytes) = self._images.popitem(last=False)
            self._images_bytes -= size_bytes
        return made


def written_buffers(kernel: Kernel) -> frozenset[str]:
    """Those that are not declared as only read."""
    return frozenset(
        parameter.name
        for parameter in kernel.parameters
        if isinstance(parameter.type, PointerType)
        and not parameter.type.is_const
        and parameter.type.space is not AddressSpace.CONSTANT
    )
