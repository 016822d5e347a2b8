"""Whether a driver uses guarded memory where it lies, and whether a kernel that leaves it is caught.

Drivers may copy what CL_MEM_USE_HOST_PTR names (OpenCL 3.0, section 5.2.1), so a kernel is asked.
"""

from __future__ import annotations

import functools
import mmap

import numpy as np
import pyopencl as cl

from model.opencl.options import BuildOptions
from profiler.device_worker.building import build
from profiler.device_worker.guards.faults import FaultTrap
from profiler.device_worker.guards.pages import Flush, GuardedMemory

SOURCE = """__kernel void address(__global uchar* memory, __global ulong* seen) { seen[0] = (ulong)memory; }
__kernel void touch(__global uchar* memory, __global ulong* seen, ulong at) {
    seen[0] = (ulong)memory;
    seen[1] = memory[at];
}
"""
SIZES_BYTES = (mmap.PAGESIZE, mmap.PAGESIZE + 4, 13)


@functools.cache
def guards_hold(device: cl.Device) -> bool:
    """Return whether guard pages catch overruns on this device; tried once in each process.

    Tried with memory that fills its pages, that does not, and that has odd addresses.
    """
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    return all(_holds(context, queue, size_bytes) for size_bytes in SIZES_BYTES)


def address_of(buffer: cl.Buffer, context: cl.Context, queue: cl.CommandQueue) -> int:
    """Where kernels see it."""
    kernel = cl.Kernel(_program(context), "address")
    seen = np.zeros(1, np.uint64)
    result = cl.Buffer(context, cl.mem_flags.READ_WRITE, seen.nbytes)
    kernel.set_args(buffer, result)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    cl.enqueue_copy(queue, seen, result)
    return int(seen[0])


def _holds(context: cl.Context, queue: cl.CommandQueue, size_bytes: int) -> bool:
    kernel = cl.Kernel(_program(context), "touch")
    memory = GuardedMemory(size_bytes, 1, 1, Flush.END)
    buffer = memory.as_buffer(context)
    seen = np.zeros(2, np.uint64)
    result = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=seen)
    kernel.set_args(buffer, result, np.uint64(size_bytes))
    trap = FaultTrap(memory.open_guard)
    with trap:
        has_ended = trap.run(queue, lambda: cl.enqueue_nd_range_kernel(queue, kernel, (1,), None))
    if not has_ended:
        return False  # and leaves all of it to the process's end
    cl.enqueue_copy(queue, seen, result)
    is_caught = [fault.address for fault in trap.faults] == [memory.start + size_bytes]
    buffer.release()
    memory.release()
    return is_caught and int(seen[0]) == memory.start


@functools.lru_cache(maxsize=1)
def _program(context: cl.Context) -> cl.Program:
    return build(context, SOURCE, None, BuildOptions())
