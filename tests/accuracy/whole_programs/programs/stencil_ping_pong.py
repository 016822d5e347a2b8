"""Heat spreads over a plate: many steps between two buffers, and a look at the result at the end."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void spread(__global const float *old, __global float *new_, const int width, const int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    new_[i] = old[i] + 0.2f * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] - 4.0f * old[i]);
}
"""
WIDTH, HEIGHT, STEPS = 1024, 1024, 200

plate = np.zeros((HEIGHT, WIDTH), np.float32)
plate[300:500, 200:700] = 100.0

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    old, new = cl.Buffer(context, flags, hostbuf=plate), cl.Buffer(context, flags, hostbuf=plate)
    kernel = cl.Kernel(program, "spread")
    for _ in range(STEPS):
        kernel(queue, (WIDTH, HEIGHT), (32, 8), old, new, np.int32(WIDTH), np.int32(HEIGHT))
        old, new = new, old
    cl.enqueue_copy(queue, plate, old)
