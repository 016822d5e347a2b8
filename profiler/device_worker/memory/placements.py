"""A kernel with several sets of equal buffers, so that no run starts from another's results nor all lie in one place.

Where a buffer happens to lie decides on conflicts in caches and address tables, and another process will have it
elsewhere: batches go from set to set, so that the spread between them shows what that is worth.

Contents that a kernel changes and reads are put back before each run, outside of the timed section, from a copy on the
device. They then lie in the caches as the copy left them: like data that the previous kernel of a program has just
written, and not like those that this kernel itself touched last. That is how such a kernel runs in earnest, so it is
what we report; buffers that are only read stay as warm as the previous run left them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyopencl as cl

from profiler.device_worker.memory.allocation import memory_limits

SETS = 4
MOST_COPIES_BYTES = 256 * 1024 * 1024  # of all further sets: filling them takes time
MOST_OF_DEVICE = 0.5  # share of its memory for everything
Value = Any  # whatever PyOpenCL takes as a kernel argument


class Placements:
    """Owns the sets, and the pristine contents of what the kernel changes.

    `changed` are the positions of the arguments whose contents must be put back before each run.
    """

    def __init__(
        self,
        kernel: cl.Kernel,
        queue: cl.CommandQueue,
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
        values: Sequence[Value],
        changed: Sequence[int],
    ) -> None:
        self._kernel, self._queue = kernel, queue
        self._global_size, self._local_size = sizes
        self._sets = [list(values)]
        self._set_bytes = sum(value.size for value in values if isinstance(value, cl.Buffer))
        self._room_bytes = int(memory_limits(queue.device).global_mem_bytes * MOST_OF_DEVICE) - self._set_bytes
        self._pristine = self._kept({at: values[at] for at in changed if isinstance(values[at], cl.Buffer)})
        self.is_restored = len(self._pristine) == len(changed)
        self._first = self._turn = 0
        self._bound = -1

    @property
    def longest_train(self) -> int | None:
        """How many launches may follow one another before contents must be put back; None: any number."""
        return len(self._sets) if self._pristine else None

    def grow(self, wanted: int = SETS) -> None:
        """More sets, up to `wanted`, as far as there is memory to spare."""
        while len(self._sets) < wanted and (len(self._sets) + 1) * self._set_bytes <= MOST_COPIES_BYTES:
            values = self._copied(self._sets[0])
            if values is None:
                return
            for at, pristine in self._pristine.items():
                cl.enqueue_copy(self._queue, values[at], pristine)
            self._queue.finish()
            self._sets.append(values)

    def begin_batch(self) -> None:
        self._first = self._turn = (self._first + 1) % len(self._sets)

    def restore(self, launches: int) -> None:
        """Put contents back for so many launches to come, no more than `longest_train`."""
        self._turn = self._first
        for ahead in range(launches if self._pristine else 0):
            values = self._sets[(self._first + ahead) % len(self._sets)]
            for at, pristine in self._pristine.items():
                cl.enqueue_copy(self._queue, values[at], pristine)
        if self._pristine:
            self._queue.finish()

    def enqueue(self) -> cl.Event:
        if self._bound != self._turn:
            self._bound = self._turn
            for at, value in enumerate(self._sets[self._turn]):
                self._kernel.set_arg(at, value)
        if self._pristine:
            self._turn = (self._turn + 1) % len(self._sets)
        return cl.enqueue_nd_range_kernel(self._queue, self._kernel, self._global_size, self._local_size)

    def _kept(self, changed: dict[int, cl.Buffer]) -> dict[int, cl.Buffer]:
        """Return copies of all of these buffers, or of none: a kernel needs its whole input restored."""
        if not changed or sum(buffer.size for buffer in changed.values()) > self._room_bytes:
            return {}
        copies = self._copied(list(changed.values()))
        return dict(zip(changed, copies, strict=True)) if copies else {}

    def _copied(self, values: Sequence[Value]) -> list[Value] | None:
        """Return the same with buffers of their own; None where the device has no room for them."""
        needed_bytes = sum(value.size for value in values if isinstance(value, cl.Buffer))
        if needed_bytes > self._room_bytes:
            return None
        try:
            copies = [self._copy(value) if isinstance(value, cl.Buffer) else value for value in values]
            self._queue.finish()
        except (cl.MemoryError, cl.RuntimeError):  # fuller than it said; what there is will do
            return None
        self._room_bytes -= needed_bytes
        return copies

    def _copy(self, buffer: cl.Buffer) -> cl.Buffer:
        made = cl.Buffer(self._queue.context, cl.mem_flags.READ_WRITE, buffer.size)
        cl.enqueue_copy(self._queue, made, buffer)
        return made
