"""One run of a launch with every buffer between guard pages.

Any access past the end that lies flush against its guard, however far, is caught at the element it was made to.
What this does not see: overruns of local memory, of private arrays and of images; an index that happens to hit another
buffer of the launch; and, only where the source casts pointers to wider types, loads within the few bytes that their
alignment leaves behind a buffer (stores there change a canary).
"""

from __future__ import annotations

import pyopencl as cl

from model.opencl.types import Type
from profiler.arguments import BufferArgument
from profiler.bounds import Overrun, Room, overrun_at, whereabouts
from profiler.child.allocation import allocate
from profiler.child.contents import Array
from profiler.child.faults import Fault, FaultTrap
from profiler.child.guard_pages import Flush, GuardedMemory
from profiler.child.overruns import out_of_bounds
from profiler.child.pointer_casts import widest_cast_bytes
from profiler.child.trial import Trial
from profiler.measurement import KernelCrashed, MeasureError

_ABANDONED: list[object] = []  # what a kernel that never ends still uses


class GuardedBuffers:
    """Owns the buffers of one run and the memory they lie in."""

    def __init__(self, context: cl.Context, align_bytes: int, flush: Flush) -> None:
        self._context, self._align_bytes, self._flush = context, align_bytes, flush
        self._made: list[tuple[BufferArgument, GuardedMemory, cl.Buffer]] = []

    def place(self, argument: BufferArgument, data: Array) -> cl.Buffer:
        """A buffer of the driver's, in place in guarded memory. Raises MemoryError."""
        align_bytes = max(alignment_of(argument.element), self._align_bytes)
        memory = GuardedMemory(data.nbytes, align_bytes, argument.element.size_bytes, self._flush)
        memory.bytes()[:] = data
        buffer = memory.as_buffer(self._context)
        self._made.append((argument, memory, buffer))
        return buffer

    def rooms(self) -> list[Room]:
        made = self._made
        return [Room(a.name, a.element, a.length, m.start, m.guarded_from, m.guarded_to) for a, m, _ in made]

    def are_tight(self) -> bool:
        """Whether both ends of all of them lie flush against guards: then one run shows it all."""
        return all(memory.is_tight() for _, memory, _ in self._made)

    def open_guard(self, address: int) -> bool:
        return any(memory.open_guard(address) for _, memory, _ in self._made)

    def changed_canary(self) -> Overrun | None:
        for room, (_, memory, _) in zip(self.rooms(), self._made, strict=True):
            if (address := memory.changed_canary()) is not None:
                return Overrun(room, address - room.start, is_store=True)
        return None

    def release(self) -> None:
        for _, memory, buffer in self._made:
            buffer.release()
            memory.release()


def run_guarded(trial: Trial, flush: Flush) -> bool:
    """Run the launch once; whether nothing is left to be seen from the other side.

    Raises OutOfBounds or KernelCrashed; their `ends_process` says that the kernel could not be brought to an end.
    Raises MemoryError if there is no room for guarded buffers.
    """
    buffers = GuardedBuffers(trial.context, widest_cast_bytes(trial.request), flush)
    trap = FaultTrap(buffers.open_guard)
    try:
        arguments = allocate(trial.plan, trial.context, trial.queue, buffers.place)
        for index, value in enumerate(arguments.values):
            trial.kernel.set_arg(index, value)
        with trap:
            has_ended = trap.run(trial.queue, trial.enqueue)
        error = _verdict(trial, buffers, trap.faults)
        if error is not None:
            error.ends_process = not has_ended
            raise error
        return buffers.are_tight()
    finally:
        if trap.is_running:
            _ABANDONED.append((trial, buffers, trap, arguments))
        else:
            buffers.release()


def _verdict(trial: Trial, buffers: GuardedBuffers, faults: list[Fault]) -> MeasureError | None:
    rooms = buffers.rooms()
    if not faults:
        overrun = buffers.changed_canary()
        return out_of_bounds(overrun, (overrun,), trial.request) if overrun else None
    overruns = [overrun_at(fault.address, rooms, fault.is_store) for fault in faults if fault.has_address]
    if overruns and overruns[0] is not None:
        return out_of_bounds(overruns[0], filter(None, overruns), trial.request)
    return KernelCrashed(f"{trial.subject} crashed ({faults[0].signal.name}): {_wild(faults[0], rooms)}")


def _wild(fault: Fault, rooms: list[Room]) -> str:
    if not fault.has_address:
        return "an address far from all of its buffers, or not aligned as its type must be; check its indices and casts"
    verb = {True: "writes", False: "reads", None: "accesses"}[fault.is_store]
    where = whereabouts(fault.address, rooms) or "far from all of its buffers: check its pointers and indices"
    return f"it {verb} {where}"


def alignment_of(element: Type) -> int:
    """What the compiler may take for granted of a pointer to `element` (OpenCL C 3.0, section 6.3.5)."""
    align = getattr(element, "align_bytes", 1)
    return int(align) if align and element.size_bytes % align == 0 else 1
