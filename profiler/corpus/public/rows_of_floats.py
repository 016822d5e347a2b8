"""Softmax and layer normalisation over the rows of a matrix of floats, in the variants that PyTorch chooses from."""

from __future__ import annotations

from math import ceil

from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

# Sums and maxima over a group: in local memory, by halves.
_REDUCTIONS = """
float group_sum(float value, __local float *part, const int lane, const int lanes) {
    barrier(CLK_LOCAL_MEM_FENCE);
    part[lane] = value;
    for (int half_lanes = lanes / 2; half_lanes > 0; half_lanes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes) part[lane] += part[lane + half_lanes];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}

float group_max(float value, __local float *part, const int lane, const int lanes) {
    barrier(CLK_LOCAL_MEM_FENCE);
    part[lane] = value;
    for (int half_lanes = lanes / 2; half_lanes > 0; half_lanes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes) part[lane] = fmax(part[lane], part[lane + half_lanes]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}
"""

# One row for each line of LANES work-items, its columns in registers: one load and one store of each.
_SOFTMAX_IN_REGISTERS = """
#define OWN (1024 / LANES)
__kernel void softmax(__global const float *restrict x, __global float *restrict z, const int rows, const int columns) {
    __local float parts[LINES][LANES];
    const int lane = get_local_id(0), row = get_global_id(1);
    __local float *part = parts[get_local_id(1)];
    float own[OWN];
    float most = -INFINITY, sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        const int column = lane + i * LANES;
        own[i] = row < rows && column < columns ? x[row * columns + column] : -INFINITY;
        most = fmax(most, own[i]);
    }
    most = group_max(most, part, lane, LANES);
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        own[i] = exp(own[i] - most);
        sum += own[i];
    }
    sum = group_sum(sum, part, lane, LANES);
    #pragma unroll
    for (int i = 0; i < OWN; ++i) {
        const int column = lane + i * LANES;
        if (row < rows && column < columns) z[row * columns + column] = own[i] / sum;
    }
}
"""

# One row for each group, read three times: for the greatest, for the sum, for the answer.
_SOFTMAX_BY_GROUPS = """
__kernel void softmax(__global const float *restrict x, __global float *restrict z, const int rows, const int columns) {
    __local float part[LANES];
    const int lane = get_local_id(0), fours = columns / 4 * 4;
    __global const float *own = x + get_group_id(0) * columns;
    __global float *to = z + get_group_id(0) * columns;
    float most = -INFINITY, sum = 0.0f;
    for (int c = 4 * lane; c < fours; c += 4 * LANES) {
        const float4 v = vload4(0, own + c);
        most = fmax(most, fmax(fmax(v.x, v.y), fmax(v.z, v.w)));
    }
    for (int c = fours + lane; c < columns; c += LANES) most = fmax(most, own[c]);
    most = group_max(most, part, lane, LANES);
    for (int c = 4 * lane; c < fours; c += 4 * LANES) {
        const float4 v = exp(vload4(0, own + c) - most);
        sum += v.x + v.y + v.z + v.w;
    }
    for (int c = fours + lane; c < columns; c += LANES) sum += exp(own[c] - most);
    sum = group_sum(sum, part, lane, LANES);
    for (int c = 4 * lane; c < fours; c += 4 * LANES) vstore4(exp(vload4(0, own + c) - most) / sum, 0, to + c);
    for (int c = fours + lane; c < columns; c += LANES) to[c] = exp(own[c] - most) / sum;
}
"""

# The same, where the row is kept in local memory in between.
_SOFTMAX_IN_LOCAL_MEMORY = """
__kernel void softmax(__global const float *restrict x, __global float *restrict z, const int rows, const int columns,
                      __local float *kept) {
    __local float part[LANES];
    const int lane = get_local_id(0);
    __global const float *own = x + get_group_id(0) * columns;
    __global float *to = z + get_group_id(0) * columns;
    float most = -INFINITY, sum = 0.0f;
    for (int c = 4 * lane; c + 3 < columns; c += 4 * LANES) {
        const float4 v = vload4(0, own + c);
        vstore4(v, 0, kept + c);
        most = fmax(most, fmax(fmax(v.x, v.y), fmax(v.z, v.w)));
    }
    most = group_max(most, part, lane, LANES);
    for (int c = 4 * lane; c + 3 < columns; c += 4 * LANES) {
        const float4 v = exp(vload4(0, kept + c) - most);
        sum += v.x + v.y + v.z + v.w;
    }
    sum = group_sum(sum, part, lane, LANES);
    for (int c = 4 * lane; c + 3 < columns; c += 4 * LANES) {
        vstore4(exp(vload4(0, kept + c) - most) / sum, 0, to + c);
    }
}
"""

# One row for each group: mean and variance in one pass, the answer in a second.
_LAYER_NORM = """
__kernel void layer_norm(__global const float *restrict x, __global const float *restrict gain,
                         __global const float *restrict shift, __global float *restrict z, const int columns,
                         const float epsilon) {
    __local float part[LANES * LINES];
    const int lane = get_local_id(1) * LANES + get_local_id(0);
    __global const float *own = x + get_group_id(0) * columns;
    __global float *to = z + get_group_id(0) * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int c = 4 * lane; c < columns; c += 4 * LANES * LINES) {
        const float4 v = vload4(0, own + c);
        sum += v.x + v.y + v.z + v.w;
        squares += dot(v, v);
    }
    const float mean = group_sum(sum, part, lane, LANES * LINES) / columns;
    const float square = group_sum(squares, part, lane, LANES * LINES) / columns;
    const float scale = rsqrt(square - mean * mean + epsilon);
    for (int c = 4 * lane; c < columns; c += 4 * LANES * LINES) {
        const float4 v = vload4(0, own + c);
        vstore4((v - mean) * scale * vload4(0, gain + c) + vload4(0, shift + c), 0, to + c);
    }
}
"""
_SOFTMAX = {
    "registers": _SOFTMAX_IN_REGISTERS,
    "groups": _SOFTMAX_BY_GROUPS,
    "local": _SOFTMAX_IN_LOCAL_MEMORY,
}


def softmax(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of softmax.

    `settings` name `rows` and `columns`; `choices` the `variant` and the group's `lanes` and `lines`.
    """
    known, chosen = dict(row.settings), dict(row.choices)
    rows, columns = int(known["rows"]), int(known["columns"])
    lanes, lines, variant = int(chosen["lanes"]), int(chosen["lines"]), chosen["variant"]
    launch = Launch(
        (lanes, ceil(rows / lines) * lines) if variant == "registers" else (rows * lanes,),
        (lanes, lines) if variant == "registers" else (lanes,),
        scalars=(("rows", rows), ("columns", columns)),
        buffers=(("x", rows * columns), ("z", rows * columns)),
        local_bytes=(("kept", 4 * columns),) if variant == "local" else (),
    )
    return PublicLaunch(_REDUCTIONS + _SOFTMAX[variant], "softmax", _group(lanes, lines), launch)


def layer_norm(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of layer normalisation.

    `settings` name `rows` and `columns`, a multiple of 4; `choices` the group's `lanes` and `lines`.
    """
    known, chosen = dict(row.settings), dict(row.choices)
    rows, columns = int(known["rows"]), int(known["columns"])
    lanes, lines = int(chosen["lanes"]), int(chosen["lines"])
    launch = Launch(
        (rows * lanes, lines),
        (lanes, lines),
        scalars=(("columns", columns), ("epsilon", 1e-5)),
        buffers=(("x", rows * columns), ("gain", columns), ("shift", columns), ("z", rows * columns)),
    )
    return PublicLaunch(_REDUCTIONS + _LAYER_NORM, "layer_norm", _group(lanes, lines), launch)


def _group(lanes: int, lines: int) -> BuildOptions:
    return BuildOptions((("LANES", str(lanes)), ("LINES", str(lines))))
