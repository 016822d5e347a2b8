"""Whether a driver uses guarded memory where it lies, and whether a kernel that leaves it is caught.

Drivers may copy what CL_MEM_USE_HOST_PTR names (OpenCL 3.0, section 5.2.1), so a kernel is asked.
"""

from __future__ import annotations

import functools
import mmap

import numpy as np
import pyopencl as cl

from profiler.child.faults import FaultTrap
from profiler.child.guard_pages import Flush, GuardedMemory

SOURCE = """__kernel void kernelcast_probe(__global uchar* memory, __global ulong* seen, ulong reach) {
    seen[0] = (ulong)memory;
    seen[1] = memory[reach];
}
"""
SIZES_BYTES = (mmap.PAGESIZE, mmap.PAGESIZE + 4, 12)


@functools.cache
def guards_hold(device: cl.Device) -> bool:
    """Tried once in each process."""
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "kernelcast_probe")
    return all(_holds(context, queue, kernel, size_bytes) for size_bytes in SIZES_BYTES)


def _holds(context: cl.Context, queue: cl.CommandQueue, kernel: cl.Kernel, size_bytes: int) -> bool:
    memory = GuardedMemory(size_bytes, 1, 1, Flush.END)
    buffer = memory.as_buffer(context)
    seen = np.zeros(2, np.uint64)
    result = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=seen)
    kernel.set_args(buffer, result, np.uint64(size_bytes))
    trap = FaultTrap(memory.open_guard)
    with trap:
        has_ended = trap.run(queue, lambda: cl.enqueue_nd_range_kernel(queue, kernel, (1,), None))
    cl.enqueue_copy(queue, seen, result)
    caught = [fault.address for fault in trap.faults] == [memory.start + size_bytes]
    buffer.release()
    memory.release()
    return has_ended and caught and int(seen[0]) == memory.start
