"""Thousands of launches that do next to nothing: what counts is what a launch costs."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void bump(__global int *data, const int by) {
    data[get_global_id(0)] += by;
}
"""
LAUNCHES, AT_ONCE = 5000, 100

data = np.zeros(256, np.int32)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    kernel = cl.Kernel(program, "bump")
    kernel.set_args(buffer, np.int32(3))
    for number in range(LAUNCHES):
        cl.enqueue_nd_range_kernel(queue, kernel, (256,), (64,))
        if number % AT_ONCE == AT_ONCE - 1:
            queue.finish()
    cl.enqueue_copy(queue, data, buffer)
