"""A picture goes through a chain of filters; each frame is uploaded and comes back as bytes."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void grey(__global const uchar4 *in, __global float *out) {
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float4 c = convert_float4(in[i]);
    out[i] = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
}
__kernel void blur(__global const float *in, __global float *out, const int radius) {
    int w = get_global_size(0), h = get_global_size(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int d = -radius; d <= radius; d++)
        sum += in[y * w + clamp(x + d, 0, w - 1)];
    out[y * w + x] = sum / (2 * radius + 1);
}
__kernel void edges(__global const float *in, __global uchar *out) {
    int w = get_global_size(0), h = get_global_size(1), x = get_global_id(0), y = get_global_id(1);
    float gx = in[y * w + min(x + 1, w - 1)] - in[y * w + max(x - 1, 0)];
    float gy = in[min(y + 1, h - 1) * w + x] - in[max(y - 1, 0) * w + x];
    out[y * w + x] = convert_uchar_sat(sqrt(gx * gx + gy * gy));
}
"""
WIDTH, HEIGHT, FRAMES = 1280, 720, 30

frames = np.random.default_rng(4).integers(0, 255, (4, HEIGHT, WIDTH, 4), np.uint8)
result = np.empty((HEIGHT, WIDTH), np.uint8)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    picture = cl.Buffer(context, cl.mem_flags.READ_ONLY, frames[0].nbytes)
    first, second = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * WIDTH * HEIGHT) for _ in range(2))
    out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, result.nbytes)
    grey, blur, edges = (cl.Kernel(program, name) for name in ("grey", "blur", "edges"))
    size, local = (WIDTH, HEIGHT), (64, 2)
    for number in range(FRAMES):
        cl.enqueue_copy(queue, picture, frames[number % len(frames)], is_blocking=False)
        grey(queue, size, local, picture, first)
        blur(queue, size, local, first, second, np.int32(3))
        edges(queue, size, local, second, out)
        cl.enqueue_copy(queue, result, out)
