"""Buffers that several versions of a launch work on in turn, so that all find the same contents in the same places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pyopencl as cl

from profiler.arguments import Argument, BufferArgument, ImageArgument
from profiler.device_worker.corpus.bound_launch import Pristine
from profiler.device_worker.memory.allocation import allocate, memory_limits
from profiler.device_worker.memory.layout import PaddedLayout, write_contents
from profiler.device_worker.memory.placements import MOST_COPIES_BYTES, MOST_OF_DEVICE, SETS
from profiler.device_worker.output_comparison import Output
from profiler.measurement import OutOfResources

Value = Any  # whatever PyOpenCL takes as a kernel argument
CHANNELS: dict[int, type[np.generic]] = {
    cl.channel_type.FLOAT: np.float32,
    cl.channel_type.SIGNED_INT32: np.int32,
    cl.channel_type.UNSIGNED_INT32: np.uint32,
    cl.channel_type.SIGNED_INT8: np.int8,
}
MOST_COMPARED_BYTES = 1 << 29  # of all outputs of a version: they are kept in the host's memory


class SharedBuffers:
    """Owns the buffers in each place, and copies of those that a version may write, which no run touches."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue, shortest: int) -> None:
        self._context, self._queue, self._shortest = context, queue, shortest
        self._layout = PaddedLayout(context, queue)
        self._places: list[dict[BufferArgument, cl.Buffer]] = [{}]
        self._pristine: dict[BufferArgument, cl.Buffer] = {}
        self._room_bytes = int(memory_limits(queue.device).global_mem_bytes * MOST_OF_DEVICE)
        self._bound: list[tuple[tuple[Argument, ...], list[list[Value]]]] = []

    def bind(self, plan: tuple[Argument, ...], written: Sequence[int]) -> list[list[Value]]:
        """Return the values of a launch's arguments in each place; `grow` adds more places to this very list.

        `written` are the positions of what a run may change. Raises OutOfResources, and NeedsAnnotation for what cannot
        be supplied.
        """
        for at, argument in enumerate(plan):
            if isinstance(argument, BufferArgument):
                self._make(argument, is_written=at in written)
        # Images are not shared: each version writes its own.
        others = allocate(tuple(a for a in plan if not isinstance(a, BufferArgument)), self._context, self._queue)
        rest = iter(others.values)
        values = [self._places[0][a] if isinstance(a, BufferArgument) else next(rest) for a in plan]
        places = [values]
        self._bound.append((plan, places))
        return places

    def grow(self) -> None:
        """Add places, as far as there is memory to spare: where buffers lie decides on conflicts in caches."""
        each_bytes = sum(buffer.size for buffer in self._places[0].values())
        while len(self._places) < SETS and (len(self._places) + 1) * each_bytes <= MOST_COPIES_BYTES:
            if each_bytes > self._room_bytes:
                return
            try:
                # Others' runs have not changed what is only read, and what is written has a copy that no run touches.
                place = {key: self._copy(self._pristine.get(key, own)) for key, own in self._places[0].items()}
                self._queue.finish()
            except (cl.MemoryError, cl.RuntimeError):  # fuller than it said; what there is will do
                return
            self._room_bytes -= each_bytes
            self._places.append(place)
            for plan, places in self._bound:
                pairs = zip(plan, places[0], strict=True)
                places.append([place[a] if isinstance(a, BufferArgument) else value for a, value in pairs])

    def pristine(self, plan: tuple[Argument, ...], positions: Sequence[int]) -> list[Pristine]:
        """Return what is to be put back before a run."""
        found = [(at, argument) for at in positions if isinstance(argument := plan[at], BufferArgument)]
        return [Pristine(at, self._pristine[key], key.size_bytes) for at, key in found if key.length]

    def outputs(self, plan: tuple[Argument, ...], values: Sequence[Value], written: Sequence[int]) -> list[Output]:
        """Read back what a run may have written, unless that is more than can be kept."""
        wanted = [plan[at] for at in written]
        if sum(a.size_bytes for a in wanted if isinstance(a, BufferArgument | ImageArgument)) > MOST_COMPARED_BYTES:
            return []
        found: list[Output] = []
        for at, argument in zip(written, wanted, strict=True):
            match argument:
                case BufferArgument() if argument.length:
                    numbers = np.empty(argument.size_bytes, np.uint8)
                    cl.enqueue_copy(self._queue, numbers, values[at])
                    found.append(Output(argument.name, numbers, argument.element))
                case ImageArgument():
                    found.append(Output(argument.name, _texels(self._queue, values[at])))
        self._queue.finish()
        return found

    def _make(self, key: BufferArgument, *, is_written: bool) -> None:
        if key not in self._places[0]:
            self._take_room(key)
            made = self._layout.buffer(key, partial(write_contents, key, self._shortest))
            self._places[0][key] = made
        if is_written and key not in self._pristine:
            self._take_room(key)
            self._pristine[key] = self._copy(self._places[0][key])
            self._queue.finish()

    def _take_room(self, key: BufferArgument) -> None:
        self._room_bytes -= key.size_bytes
        if self._room_bytes < 0:
            raise OutOfResources(
                f"buffer `{key.name}`: versions that are measured in turns need a second copy of what they write, for "
                "which this device has no room; choose a smaller launch"
            )

    def _copy(self, buffer: cl.Buffer) -> cl.Buffer:
        made = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, buffer.size)
        cl.enqueue_copy(self._queue, made, buffer)
        return made


def named_as(first: tuple[Argument, ...], plan: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Return `plan` with the buffers' names as in the first version, so that they hold the same and can be compared.

    A buffer that the first version does not name is the one in the same place, if that holds the same type.
    """
    common = {argument.name for argument in first} & {argument.name for argument in plan}
    named: list[Argument] = []
    for argument, there in zip_longest(plan, first[: len(plan)]):
        name = argument.name
        if there is not None and name not in common and there.name not in common:
            match argument, there:
                case (BufferArgument(element=kind), BufferArgument(element=same)) if kind == same:
                    name = there.name
                case (ImageArgument(), ImageArgument()):
                    name = there.name
        named.append(replace(argument, name=name))
    return tuple(named)


def _texels(queue: cl.CommandQueue, image: cl.Image) -> np.ndarray[Any, np.dtype[Any]]:
    """Read an image's channels, row by row."""
    sizes = [image.width, image.height, image.depth]
    region = tuple(max(1, size) for size in sizes)
    dtype = np.dtype(CHANNELS.get(image.format.channel_data_type, np.uint8))
    layers = max(1, image.array_size) if image.type == cl.mem_object_type.IMAGE2D_ARRAY else 1
    if image.type == cl.mem_object_type.IMAGE1D_ARRAY:
        region = (region[0], max(1, image.array_size), 1)
    elif layers > 1:
        region = (region[0], region[1], layers)
    texels = np.empty((*reversed(region), 4), dtype)
    cl.enqueue_copy(queue, texels, image, origin=(0, 0, 0), region=region)
    return texels.reshape(-1)
