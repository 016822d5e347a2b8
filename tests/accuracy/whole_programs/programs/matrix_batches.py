"""Batches of small matrix products: the left sides are uploaded for each batch, the right side stays."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void multiply(__global const float *a, __global const float *b, __global float *c, const int n) {
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""
N, BATCHES, EACH = 256, 10, 4

left = np.random.default_rng(5).random((BATCHES, EACH, N, N), np.float32)
result = np.empty((EACH, N, N), np.float32)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags
    right = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=left[0, 0])
    here = [cl.Buffer(context, flags.READ_ONLY, left[0, 0].nbytes) for _ in range(EACH)]
    there = [cl.Buffer(context, flags.WRITE_ONLY, left[0, 0].nbytes) for _ in range(EACH)]
    kernel = cl.Kernel(program, "multiply")
    for batch in left:
        for a, buffer in zip(batch, here, strict=True):
            cl.enqueue_copy(queue, buffer, a, is_blocking=False)
        for buffer, out in zip(here, there, strict=True):
            kernel(queue, (N, N), (32, 4), buffer, right, out, np.int32(N))
        for out, c in zip(result, there, strict=True):
            cl.enqueue_copy(queue, out, c, is_blocking=False)
        queue.finish()
