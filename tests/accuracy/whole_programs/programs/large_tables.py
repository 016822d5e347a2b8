"""A large table is uploaded once and searched many times with small batches of queries."""

import numpy as np
import pyopencl as cl
from session import timed

SOURCE = """
__kernel void find(__global const int *table, const int size, __global const int *keys, __global int *places) {
    int low = 0, high = size, key = keys[get_global_id(0)];
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    places[get_global_id(0)] = low;
}
"""
SIZE, QUERIES, BATCHES = 1 << 23, 1 << 16, 30

random = np.random.default_rng(6)
table = np.arange(0, 2 * SIZE, 2, np.int32)
keys = random.integers(0, 2 * SIZE, (BATCHES, QUERIES), np.int32)
places = np.empty_like(keys)

with timed(SOURCE) as (context, program):
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags
    here = cl.Buffer(context, flags.READ_ONLY, table.nbytes)
    asked = cl.Buffer(context, flags.READ_ONLY, keys[0].nbytes)
    found = cl.Buffer(context, flags.WRITE_ONLY, keys[0].nbytes)
    kernel = cl.Kernel(program, "find")
    cl.enqueue_copy(queue, here, table)
    for batch, out in zip(keys, places, strict=True):
        cl.enqueue_copy(queue, asked, batch)
        kernel(queue, (QUERIES,), (64,), here, np.int32(SIZE), asked, found)
        cl.enqueue_copy(queue, out, found)
