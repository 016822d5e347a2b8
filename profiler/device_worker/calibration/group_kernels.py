"""Kernels about work-groups: local memory, barriers, branches that neighbours take differently, private arrays."""

from __future__ import annotations

# A work-item of its own, with next to nothing in it.
LITTLE = """
__kernel void little(__global float* out) { out[PLACE + (get_local_id(0) & 255)] = get_local_id(0); }
"""

LOCAL = """
__kernel void rows(__global float* out, float c) {
    __local float tmp[256 + 32];
    uint lane = get_local_id(0);
    tmp[lane] = lane * c;
    if (lane < 32) tmp[256 + lane] = c;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float* row = tmp + lane;
    float sum = 0;
    R16(sum = sum * c + row[0] * row[1]; row += 2;)
    out[PLACE + lane] = sum;
}

__kernel void strided(__global float* out, float c, uint stride) {
    __local float tmp[2048];
    uint lane = get_local_id(0);
    for (uint k = lane; k < 2048; k += 256) tmp[k] = k * c;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = lane * stride;
    float sum = 0;
    R4(R16(sum += tmp[at & 2047]; at += 1;))
    out[PLACE + lane] = sum;
}
"""
STRIDED_LOADS = 64

# With and without: `FENCE` is the difference. Local memory is exchanged in both.
BARRIERS = """
#define EXCHANGE tmp[lane] = v; FENCE v = tmp[last - lane] * c + v; FENCE
#define FENCE barrier(CLK_LOCAL_MEM_FENCE);
__kernel void with(__global float* out, float c) {
    __local float tmp[1024];
    uint lane = get_local_id(0), last = get_local_size(0) - 1;
    float v = lane * c;
    R4(EXCHANGE)
    out[PLACE + (lane & 255)] = v;
}
#undef FENCE
#define FENCE
__kernel void without(__global float* out, float c) {
    __local float tmp[1024];
    uint lane = get_local_id(0), last = get_local_size(0) - 1;
    float v = lane * c;
    R4(EXCHANGE)
    out[PLACE + (lane & 255)] = v;
}
"""
FENCES = 8

_MOST_WAYS = 16


def divergence() -> str:
    """Return a kernel whose work-items each take one of `ways` paths, a power of two.

    The paths take equally long, and differ in which of two steps they make when, so that no compiler can run them as
    one.
    """
    step = ("v = v * c + d;", "v = (v + d) * c;")
    body = [
        f"if (way == {way}) {{ {' '.join(step[way >> (at % 4) & 1] for at in range(32))} }}"
        for way in range(_MOST_WAYS)
    ]
    return f"""
__kernel void k(__global float* out, float c, float d, int ways) {{
    float v = get_local_id(0) * 1e-3f + c;
    const int way = get_local_id(0) & (ways - 1);
    {" else ".join(body)}
    out[PLACE + get_local_id(0)] = v;
}}
"""


def private_array(floats: int) -> str:
    """Return a store and a load for each element of an array that is indexed at run time.

    `floats` is a power of two.
    """
    return f"""
__kernel void k(__global float* out, float c, uint step) {{
    float row[{floats}];
    uint at = get_local_id(0);
    for (int k = 0; k < {floats}; ++k) {{ row[at & {floats - 1}] = k * c; at += 1; }}
    float sum = 0;
    for (int k = 0; k < {floats}; ++k) {{ at += step; sum += row[at & {floats - 1}]; }}
    out[PLACE + get_local_id(0)] = sum;
}}
"""


PRIVATE_ROWS = """
__kernel void k(__global float* out, float c, uint step) {
    float row[32];
    uint at = get_local_id(0);
    for (int k = 0; k < 32; ++k) row[(k + at) & 31] = k * c;
    float sum = 0;
    R16(at += step; sum += row[at & 31]; at += step; sum += row[at & 31];)
    out[PLACE + get_local_id(0)] = sum;
}
"""
