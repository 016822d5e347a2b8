"""Two streams of blocks, each on a queue of its own; the host waits only at the end."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void iterate(__global float *data, const int rounds) {
    int i = get_global_id(0);
    float x = data[i];
    for (int n = 0; n < rounds; n++)
        x = x * 0.999f + 0.25f / (1.0f + x * x);
    data[i] = x;
}
"""
SIZE, BLOCKS = 1 << 19, 20

blocks = np.random.default_rng(3).random((2 * BLOCKS, SIZE), np.float32)

with timed(SOURCE) as (context, program):
    queues = [cl.CommandQueue(context) for _ in range(2)]
    buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, blocks[0].nbytes) for _ in queues]
    kernels = [cl.Kernel(program, "iterate") for _ in queues]
    for number, block in enumerate(blocks):
        queue, buffer, kernel = (each[number % 2] for each in (queues, buffers, kernels))
        cl.enqueue_copy(queue, buffer, block, is_blocking=False)
        kernel(queue, (SIZE,), (128,), buffer, np.int32(20))
        cl.enqueue_copy(queue, block, buffer, is_blocking=False)
    for queue in queues:
        queue.finish()
