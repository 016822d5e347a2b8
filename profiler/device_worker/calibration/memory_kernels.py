"""Kernels that move data in global memory, and atomics. `mask` + 1 is the footprint in floats, a power of two."""

from __future__ import annotations

LOADS = 16  # of each kernel in rows, a work-item

# A group reads (writes) 16 rows of 256 neighbouring floats; groups go round the footprint.
STREAMS = """
__kernel void read_rows(__global const float* x, __global float* out, uint mask) {
    uint at = ((uint)get_group_id(0) * 16 * 256) & mask;
    __global const float* row = x + at + get_local_id(0);
    float sum = 0;
    R16(sum += *row; row += 256;)
    out[PLACE + get_local_id(0)] = sum;
}

__kernel void write_rows(__global float* x, uint mask, float v) {
    uint at = ((uint)get_group_id(0) * 16 * 256) & mask;
    __global float* row = x + at + get_local_id(0);
    R16(*row = v; row += 256;)
}

// From the lower to the upper half of the footprint: mask + 1 is half of it.
__kernel void copy_rows(__global float* x, uint mask) {
    uint at = ((uint)get_group_id(0) * 16 * 256) & mask;
    __global const float* from = x + at + get_local_id(0);
    __global float* to = x + mask + 1 + at + get_local_id(0);
    R16(*to = *from; to += 256; from += 256;)
}

// One float each, one after the other: far from the caches, some devices do better with this.
__kernel void read_plain(__global const float* x, __global float* out, uint mask) {
    uint at = (uint)get_global_id(0) & mask;
    float v = x[at];
    if (v == 77.0f) out[at & 255] = v;
}

__kernel void write_plain(__global float* x, uint mask, float v) { x[(uint)get_global_id(0) & mask] = v; }

__kernel void copy_plain(__global float* x, uint mask) {
    uint at = (uint)get_global_id(0) & mask;
    x[mask + 1 + at] = x[at];
}
"""

LONE = """
__kernel void gather(__global const float* x, __global float* out, uint mask) {
    uint h = (uint)get_global_id(0) * 2654435761u;
    float sum = 0;
    R16(h = h * 1664525u + 1013904223u; sum += x[(h >> 7) & mask];)
    out[PLACE + get_local_id(0)] = sum;
}

// x holds where to go from each place.
__kernel void chase(__global const uint* x, __global float* out, uint mask, uint steps) {
    uint at = ((uint)get_global_id(0) * 2654435761u) & mask;
    for (uint i = 0; i < steps; i++)
        at = x[at];
    out[PLACE + get_local_id(0)] = at;
}

// Each launch walks over all of x once, in four parts; neighbours stand `stride` floats apart.
__kernel void stride_walk(__global const float* x, __global float* out, uint stride, uint quarter) {
    uint at = (uint)get_global_id(0) * stride;
    out[PLACE + get_local_id(0)] =
        x[at] + x[at + quarter] + x[at + 2 * quarter] + x[at + 3 * quarter];
}
"""

ATOMICS = """
__kernel void spread(__global int* x) {
    uint at = (uint)get_global_id(0) * 2654435761u;
    R4(atomic_add(x + ((at >> 12) & 0xffff), 1); at += 4096 * 977;)
}

__kernel void contended(__global int* x) { R4(atomic_add(x, 1);) }

__kernel void local_spread(__global float* out) {
    __local int count[256];
    count[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = get_local_id(0) * 67;
    R16(atomic_add(count + (at & 255), 1); at += 97;)
    barrier(CLK_LOCAL_MEM_FENCE);
    out[PLACE + get_local_id(0)] = count[get_local_id(0)];
}

__kernel void local_contended(__global float* out) {
    __local int count[256];
    count[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    R16(atomic_add(count, 1);)
    barrier(CLK_LOCAL_MEM_FENCE);
    out[PLACE + get_local_id(0)] = count[get_local_id(0)];
}
"""


def image_reads(dimensions: int, access: str) -> str:
    """Four texels for each work-item of a one-dimensional range, over an image of 2^18 texels (2^12 in a row)."""
    mode = f"CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_{access.upper()}"
    scalar = "int" if access == "nearest" else "float"
    shift = "" if access == "nearest" else " + 0.3f"
    at = {
        1: f"({scalar})(i & 4095){shift}",
        2: f"({scalar}2)(i & 511, (i >> 9) & 511){shift}",
        3: f"({scalar}4)(i & 63, (i >> 6) & 63, (i >> 12) & 63, 0){shift}",
    }[dimensions]
    return f"""
__kernel void k(read_only image{dimensions}d_t in, __global float* out) {{
    const sampler_t how = {mode};
    uint i = get_global_id(0);
    float4 sum = (float4)(0);
    R4(sum += read_imagef(in, how, {at}); i += 256 * 61;)
    out[PLACE + get_local_id(0)] = sum.x + sum.y + sum.z + sum.w;
}}
"""


IMAGE_WRITES = """
__kernel void k(write_only image2d_t to) {
    uint i = get_global_id(0);
    write_imagef(to, (int2)(i & 511, (i >> 9) & 511), (float4)(i));
}
"""
