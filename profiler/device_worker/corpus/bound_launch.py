"""One launch with its arguments in one place or in several, ready to be repeated.

Where a buffer happens to lie decides on conflicts in caches, so that short launches are timed in several places. What
a run changes in place is put back before the next one by a copy on the device, outside of what is timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyopencl as cl

Value = Any  # whatever PyOpenCL takes as a kernel argument


@dataclass(frozen=True, slots=True)
class Pristine:
    """The contents that the argument at `position` begins each run with: the first `size_bytes` of a buffer."""

    position: int
    buffer: cl.Buffer
    size_bytes: int


class Placed:
    """Owns which of `places` is bound. `pristine` hold in all of them."""

    def __init__(
        self,
        queue: cl.CommandQueue,
        kernel: cl.Kernel,
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
        places: Sequence[Sequence[Value]],
        pristine: Sequence[Pristine],
    ) -> None:
        self._queue, self._kernel = queue, kernel
        self._global_size, self._local_size = sizes
        self._places, self._pristine = places, pristine
        self._at = -1
        self.begin_batch()

    @property
    def longest_train(self) -> int | None:
        """As `profiler.device_worker.timing.Subject`: what must be put back is put back before each launch."""
        return 1 if self._pristine else None

    def begin_batch(self) -> None:
        """Go on to the next place. Bound anew even if it is the same: other launches may share the kernel."""
        self._at = (self._at + 1) % len(self._places)
        for index, value in enumerate(self._places[self._at]):
            self._kernel.set_arg(index, value)

    def restore(self, _launches: int) -> None:
        if not self._pristine:
            return
        values = self._places[self._at]
        for kept in self._pristine:
            cl.enqueue_copy(self._queue, values[kept.position], kept.buffer, byte_count=kept.size_bytes)
        self._queue.finish()

    def enqueue(self) -> cl.Event:
        return cl.enqueue_nd_range_kernel(self._queue, self._kernel, self._global_size, self._local_size)
