"""A vector is scaled until its norm is small: each round the host adds up partial sums and decides."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void squares(__global const float *in, __global float *sums, __local float *part, const int count) {
    int lane = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        sum += in[i] * in[i];
    part[lane] = sum;
    for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step)
            part[lane] += part[lane + step];
    }
    if (lane == 0)
        sums[get_group_id(0)] = part[0];
}
__kernel void shrink(__global float *data, const float factor) {
    data[get_global_id(0)] *= factor;
}
"""
SIZE, GROUPS, LANES = 1 << 20, 64, 64

data = np.random.default_rng(2).random(SIZE, np.float32)
sums = np.empty(GROUPS, np.float32)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, data.nbytes)
    partial = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, sums.nbytes)
    squares, shrink = cl.Kernel(program, "squares"), cl.Kernel(program, "shrink")
    cl.enqueue_copy(queue, buffer, data)
    norm = 1e9
    while norm > 1.0:
        shrink(queue, (SIZE,), (128,), buffer, np.float32(0.95))
        local = cl.LocalMemory(4 * LANES)
        squares(queue, (GROUPS * LANES,), (LANES,), buffer, partial, local, np.int32(SIZE))
        cl.enqueue_copy(queue, sums, partial)
        norm = float(np.sqrt(sums.sum()))
