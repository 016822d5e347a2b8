"""Real kernel arguments on the device, from a plan, and what the device can hold of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyopencl as cl

from profiler.arguments import (
    Argument,
    BufferArgument,
    ImageArgument,
    LocalArgument,
    MemoryLimits,
    SamplerArgument,
    ValueArgument,
)
from profiler.device_worker.memory.free_memory import room_for_buffers_bytes
from profiler.device_worker.memory.images import make_image
from profiler.device_worker.memory.layout import Layout, PaddedLayout, write_contents


def memory_limits(device: cl.Device) -> MemoryLimits:
    """Return what the driver reports, less what this process may not take any more, where a CPU's buffers lie."""
    global_mem_bytes = device.global_mem_size
    room_bytes = room_for_buffers_bytes() if device.type & cl.device_type.CPU else None
    if room_bytes is not None:
        global_mem_bytes = min(global_mem_bytes, room_bytes)
    return MemoryLimits(device.max_mem_alloc_size, global_mem_bytes, device.local_mem_size)


Value = Any  # whatever PyOpenCL takes as a kernel argument: a memory object, bytes, a sampler


@dataclass(slots=True)
class Arguments:
    """What the kernel is called with."""

    values: list[Value] = field(default_factory=list)

    def release(self) -> None:
        """Give the device's memory back at once."""
        for value in self.values:
            if isinstance(value, cl.Buffer | cl.Image):
                value.release()


def shortest_length(plan: Iterable[Argument]) -> int:
    """Return the length of the shortest buffer, in elements: default integers stay below it."""
    return min((argument.length for argument in plan if isinstance(argument, BufferArgument)), default=0)


def allocate(
    plan: tuple[Argument, ...], context: cl.Context, queue: cl.CommandQueue, layout: Layout | None = None
) -> Arguments:
    """Create and fill everything in `plan`; buffers are padded if no other layout is given."""
    made = Arguments()
    layout = layout or PaddedLayout(context, queue)
    shortest = shortest_length(plan)
    for argument in plan:
        match argument:
            case BufferArgument():
                made.values.append(layout.buffer(argument, partial(write_contents, argument, shortest)))
            case LocalArgument(_, size_bytes):
                made.values.append(cl.LocalMemory(max(1, size_bytes)))
            case ValueArgument(_, data_bytes):
                made.values.append(data_bytes)
            case ImageArgument():
                made.values.append(make_image(argument, context, layout))
            case SamplerArgument():
                sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
                made.values.append(sampler)
    queue.finish()
    return made
