"""What a device can hold: a CPU's buffers lie in the memory of its process, which is limited beside."""

from __future__ import annotations

import pyopencl as cl

from profiler.arguments import MemoryLimits
from profiler.device_worker.memory.free_memory import room_for_buffers_bytes


def memory_limits(device: cl.Device) -> MemoryLimits:
    """As the driver reports it, less what this process may not take any more."""
    global_mem_bytes = device.global_mem_size
    room_bytes = room_for_buffers_bytes() if device.type & cl.device_type.CPU else None
    if room_bytes is not None:
        global_mem_bytes = min(global_mem_bytes, room_bytes)
    return MemoryLimits(device.max_mem_alloc_size, global_mem_bytes, device.local_mem_size)
