"""Blocks of a signal go to the device, are weighed by a polynomial, and come back, one after the other."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void weigh(__global const float *in, __global float *out, const float a, const float b) {
    int i = get_global_id(0);
    float x = in[i];
    out[i] = ((a * x + b) * x + a) * x + sqrt(fabs(x));
}
"""
SIZE, BLOCKS = 1 << 20, 40

blocks = np.random.default_rng(1).random((BLOCKS, SIZE), np.float32)
result = np.empty_like(blocks)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    nbytes = blocks[0].nbytes
    here = cl.Buffer(context, cl.mem_flags.READ_ONLY, nbytes)
    there = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, nbytes)
    kernel = cl.Kernel(program, "weigh")
    for block, out in zip(blocks, result, strict=True):
        cl.enqueue_copy(queue, here, block, is_blocking=False)
        kernel(queue, (SIZE,), (128,), here, there, np.float32(0.3), np.float32(1.7))
        cl.enqueue_copy(queue, out, there)
