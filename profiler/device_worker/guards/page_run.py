"""One run of a launch with every buffer between guard pages.

Any access past the end that lies flush against its guard, however far, is caught at the element it was made to. Images
too, where the driver does not check coordinates itself.
What this does not see: overruns of local memory and of private arrays; coordinates beyond one row of an image that fall
into the next; and, only where the source casts pointers to wider types, loads within the few bytes that their alignment
leaves behind a buffer (stores there change a canary).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pyopencl as cl

from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.arguments import BufferArgument, ImageArgument, LocalArgument
from profiler.bounds import Overrun, Room, overrun_at, whereabouts
from profiler.device_worker.guards.canaries import canary_of
from profiler.device_worker.guards.faults import Fault, FaultTrap
from profiler.device_worker.guards.overruns import out_of_bounds
from profiler.device_worker.guards.pages import Flush, GuardedMemory
from profiler.device_worker.guards.pointer_casts import widest_cast_bytes
from profiler.device_worker.memory.allocation import Arguments, allocate
from profiler.device_worker.memory.layout import Array, Write
from profiler.device_worker.programs import Trial
from profiler.inferred_args import advice, misleading
from profiler.measurement import KernelCrashed, MeasureError

_ABANDONED: list[object] = []  # what a kernel that never ends still uses


class GuardedLayout:
    """Owns the memory of one run's buffers and images, all of it guarded."""

    def __init__(self, context: cl.Context, align_bytes: int, flush: Flush) -> None:
        self._context, self._align_bytes, self._flush = context, align_bytes, flush
        self._made: list[tuple[Room, GuardedMemory]] = []

    def buffer(self, argument: BufferArgument, write: Write) -> cl.Buffer:
        """Return the driver's buffer in place in guarded memory. Raises MemoryError."""
        memory = self._guarded(Room(argument.name, argument.element, argument.length, 0, 0, 0))
        write(memory.bytes())
        return memory.as_buffer(self._context)

    def image_memory(
        self, argument: ImageArgument, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[cl.mem_flags, Array]:
        """Likewise of an image. Raises MemoryError."""
        *size, channels = shape
        texel = VectorType(ScalarType(argument.channel, ScalarKind.UNSIGNED, dtype.itemsize), channels)
        memory = self._guarded(Room(argument.name, texel, prod(size), 0, 0, 0, tuple(reversed(size))))
        return cl.mem_flags.USE_HOST_PTR, memory.bytes().view(dtype).reshape(shape)

    def _guarded(self, room: Room) -> GuardedMemory:
        """Memory for what `room` describes, wherever it comes to lie."""
        element = room.element
        align_bytes = max(_natural_alignment(element), self._align_bytes)
        size_bytes = room.length * element.size_bytes
        memory = GuardedMemory(size_bytes, align_bytes, element.size_bytes, self._flush, canary_of(element))
        lies = replace(room, start=memory.start, guarded_from=memory.guarded_from, guarded_to=memory.guarded_to)
        self._made.append((lies, memory))
        return memory

    def rooms(self) -> list[Room]:
        return [room for room, _ in self._made]

    def are_tight(self) -> bool:
        """Return whether both ends of all of them lie flush against guards: then one run shows it all."""
        return all(memory.is_tight() for _, memory in self._made)

    def open_guard(self, address: int) -> bool:
        return any(memory.open_guard(address) for _, memory in self._made)

    def changed_canary(self) -> Overrun | None:
        for room, memory in self._made:
            if (address := memory.changed_canary()) is not None:
                return Overrun(room, address - room.start, is_store=True)
        return None

    def release(self) -> None:
        """Not before the kernel has ended, and nothing of the driver's uses it any more."""
        for _, memory in self._made:
            memory.release()


def run_guarded(trial: Trial, flush: Flush) -> bool:
    """Run the launch once; whether nothing is left to be seen from the other side.

    Raises OutOfBounds or KernelCrashed; their `ends_process` says that the kernel could not be brought to an end.
    Raises MemoryError if there is no room for guards.
    """
    layout = GuardedLayout(trial.context, widest_cast_bytes(trial.request), flush)
    trap = FaultTrap(layout.open_guard)
    arguments = Arguments()
    try:
        arguments = allocate(trial.plan, trial.context, trial.queue, layout)
        trial.set_arguments(arguments.values)
        with trap:
            has_ended = trap.run(trial.queue, trial.enqueue)
        error = _verdict(trial, layout, trap.faults)
        if error is not None:
            error.ends_process = not has_ended
            raise error
        return layout.are_tight()
    finally:
        if trap.is_running:
            _ABANDONED.append((trial, layout, trap, arguments))
        else:
            arguments.release()
            layout.release()


def _verdict(trial: Trial, layout: GuardedLayout, faults: list[Fault]) -> MeasureError | None:
    rooms = layout.rooms()
    if not faults:
        overrun = layout.changed_canary()
        return out_of_bounds(overrun, (overrun,), trial.request) if overrun else None
    overruns = [overrun_at(fault.address, rooms, fault.is_store) for fault in faults if fault.has_address]
    if overruns and overruns[0] is not None:
        return out_of_bounds(overruns[0], filter(None, overruns), trial.request)
    crashed = f"{trial.subject} crashed ({faults[0].signal.name}): {_wild(faults[0], rooms)}"
    return KernelCrashed("; ".join(filter(None, (crashed, _local_sizes(trial), advice(misleading(trial.request))))))


def _wild(fault: Fault, rooms: list[Room]) -> str:
    if not fault.has_address:
        return "an address far from all of its buffers, or not aligned as its type must be; check its indices and casts"
    verb = {True: "writes", False: "reads", None: "accesses"}[fault.is_store]
    where = whereabouts(fault.address, rooms) or "far from all of its buffers; check its pointers and indices"
    return f"it {verb} {where}"


def _local_sizes(trial: Trial) -> str:
    """Return how large local pointers are: past their end lies the stack of some drivers."""
    sizes = (f"`{a.name}` has {a.size_bytes} bytes" for a in trial.plan if isinstance(a, LocalArgument))
    return "; ".join(sizes)


def _natural_alignment(element: Type) -> int:
    """Return what compilers take for granted of a pointer to it (OpenCL C 3.0, section 6.3.5)."""
    return element.align_bytes if isinstance(element, ScalarType | VectorType | ArrayType | StructType) else 1
