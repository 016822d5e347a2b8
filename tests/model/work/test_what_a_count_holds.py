"""An editor keeps hundreds of counts: what was only needed on the way to one is not kept with it."""

from __future__ import annotations

import gc
import tracemalloc

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.work.analyse import analyse

# As it is while its parameters are typed: `size` is nobody's, so that both guards are tried id by id.
GUARDED = """__kernel void fade(__global float *photo)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int2 size = get_image_dim(straight);
    if (at.x >= size.x || at.y >= size.y) return;
    photo[at.y * 640 + at.x] = 1;
}"""
_MOST_BYTES = 400_000


def test_a_count_is_small_however_much_was_tried_for_it() -> None:
    program = read_program(GUARDED)
    work = analyse(program, program.kernels[0])
    launch = Launch((640, 480), (16, 8), buffers=(("photo", 640 * 480),))
    gc.collect()
    tracemalloc.start()
    try:
        counts = work.count(launch)
        gc.collect()
        held_bytes, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts is not None
    assert most_bytes > 2 * _MOST_BYTES  # else nothing was tried
    assert held_bytes < _MOST_BYTES
