"""Kernels that exercise one resource each. All store what they compute, and feed each step from the one before it,
so that no compiler can leave the work away. Coefficients are arguments, so that nothing folds into constants."""

from __future__ import annotations

LANES = 256  # work-items a group; the kernels below are written for it
STEPS = 16  # of each unrolled body
LOADS = 16  # of each memory kernel, a work-item

SOURCE = r"""
#define LANES 256
// Where a group writes what it computed. Work-groups that run at once on different cores are far apart in number: they
// must not write to the same cache lines, or passing those around is what is measured. 61 has no common factor with
// the distances at which runtimes deal out groups.
#define PLACE ((get_group_id(0) / 16 % 61) * LANES)
#define R4(x) x x x x
#define R16(x) R4(R4(x))

__kernel void nothing(__global float* out) { }

// A work-item of its own, with next to nothing in it.
__kernel void little(__global float* out) {
    out[PLACE + get_local_id(0)] = get_local_id(0);
}

#define UNROLLED(NAME, T, STEP, SEED)                                        \
__kernel void NAME(__global T* out, T c, T d) {                              \
    T p = (T)(get_local_id(0)) * SEED + c, q = p + d, r = q + d, s = r + d;  \
    R16(STEP(p) STEP(q) STEP(r) STEP(s))                                     \
    out[PLACE + get_local_id(0)] = p + q + r + s;   \
}
#define MULTIPLY_ADD(v) v = v * c + d;
#define ADD_XOR(v) v = (v ^ c) + d;
#define DIVIDE(v) v = c / (v + d);
#define INT_DIVIDE(v) v = c / ((v & 15) + d);
UNROLLED(fp32, float, MULTIPLY_ADD, 1e-3f)
UNROLLED(int32, int, ADD_XOR, 3)
UNROLLED(divide, float, DIVIDE, 1e-3f)
UNROLLED(int_divide, int, INT_DIVIDE, 3)
#ifdef HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
UNROLLED(fp64, double, MULTIPLY_ADD, 1e-3)
#endif
#ifdef HAS_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
UNROLLED(fp16, half, MULTIPLY_ADD, (half)1e-3f)
#endif

// How often is known at run time only: CPU compilers then leave work-items one by one.
__kernel void fp32_counted(__global float* out, float c, float d, int n) {
    float v = get_local_id(0) * 1e-3f + c;
    for (int k = 0; k < n; ++k) v = v * c + d;
    out[PLACE + get_local_id(0)] = v;
}

__kernel void special(__global float* out, float c, float d) {
    float v = get_local_id(0) * 1e-3f + c;
    R4(v = sin(v) + d; v = exp(v * c); v = log(v + d) + c; v = pow(v + d, c);)
    out[PLACE + get_local_id(0)] = v;
}

__kernel void native(__global float* out, float c, float d) {
    float v = get_local_id(0) * 1e-3f + c;
    R4(v = native_sin(v) + d; v = native_exp(v * c); v = native_log(v + d) + c; v = native_rsqrt(v + d);)
    out[PLACE + get_local_id(0)] = v;
}

// A group reads (writes) 16 rows of LANES neighbouring floats; groups go round a footprint of mask + 1 floats.
__kernel void read_rows(__global const float* x, __global float* out, uint mask) {
    uint at = ((uint)get_group_id(0) * 16 * LANES) & mask;
    __global const float* row = x + at + get_local_id(0);
    float sum = 0;
    R16(sum += *row; row += LANES;)
    out[PLACE + get_local_id(0)] = sum;
}

__kernel void write_rows(__global float* x, uint mask, float v) {
    uint at = ((uint)get_group_id(0) * 16 * LANES) & mask;
    __global float* row = x + at + get_local_id(0);
    R16(*row = v; row += LANES;)
}

// One float each, one after the other: far from the caches, some devices do better with this.
__kernel void read_plain(__global const float* x, __global float* out, uint mask) {
    uint at = (uint)get_global_id(0) & mask;
    float v = x[at];
    if (v == 77.0f) out[at & 255] = v;
}

__kernel void write_plain(__global float* x, uint mask, float v) { x[(uint)get_global_id(0) & mask] = v; }

__kernel void gather(__global const float* x, __global float* out, uint mask) {
    uint h = (uint)get_global_id(0) * 2654435761u;
    float sum = 0;
    R16(h = h * 1664525u + 1013904223u; sum += x[(h >> 7) & mask];)
    out[PLACE + get_local_id(0)] = sum;
}

// Each launch walks over all of x once, in four parts; neighbours stand `stride` floats apart.
__kernel void stride_walk(__global const float* x, __global float* out, uint stride, uint quarter) {
    uint at = (uint)get_global_id(0) * stride;
    out[PLACE + get_local_id(0)] =
        x[at] + x[at + quarter] + x[at + 2 * quarter] + x[at + 3 * quarter];
}

__kernel void local_rows(__global float* out, float c) {
    __local float tmp[LANES + 32];
    uint lane = get_local_id(0);
    tmp[lane] = lane * c;
    if (lane < 32) tmp[LANES + lane] = c;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float* row = tmp + lane;
    float sum = 0;
    R16(sum = sum * c + row[0] * row[1]; row += 2;)
    out[PLACE + lane] = sum;
}

__kernel void private_rows(__global float* out, float c, uint step) {
    float row[32];
    uint at = get_local_id(0);
    for (int k = 0; k < 32; ++k) row[(k + at) & 31] = k * c;
    float sum = 0;
    R16(at += step; sum += row[at & 31]; at += step; sum += row[at & 31];)
    out[PLACE + get_local_id(0)] = sum;
}

__kernel void atomics_spread(__global int* x) {
    uint at = (uint)get_global_id(0) * 2654435761u;
    R4(atomic_add(x + ((at >> 12) & 0xffff), 1); at += 4096 * 977;)
}

__kernel void atomics_contended(__global int* x) { R4(atomic_add(x, 1);) }

#define EXCHANGE tmp[lane] = v; FENCE v = tmp[LANES - 1 - lane] * c + v; FENCE
#define FENCE barrier(CLK_LOCAL_MEM_FENCE);
__kernel void with_barriers(__global float* out, float c) {
    __local float tmp[LANES];
    uint lane = get_local_id(0);
    float v = lane * c;
    R4(EXCHANGE)
    out[PLACE + lane] = v;
}
#undef FENCE
#define FENCE
__kernel void without_barriers(__global float* out, float c) {
    __local float tmp[LANES];
    uint lane = get_local_id(0);
    float v = lane * c;
    R4(EXCHANGE)
    out[PLACE + lane] = v;
}

#ifdef HAS_IMAGES
__kernel void image_reads(read_only image2d_t picture, __global float* out) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0) & 511, (get_global_id(0) >> 9) & 511);
    float4 sum = (float4)(0);
    R4(sum += read_imagef(picture, nearest, at); at.x ^= 1; at.y ^= 3;)
    out[PLACE + get_local_id(0)] = sum.x + sum.y + sum.z + sum.w;
}
#endif
"""
