"""OpenCL C files of any length, as people write them, for the benchmarks: valid, varied, the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

PREAMBLE = """\
/* Generated for benchmarks: {kernels} kernels, seed {seed}. */
#ifndef TILE
#define TILE 16
#endif
#define SQUARE(x) ((x) * (x))
#define CLAMPED(v, hi) min(max((v), 0), (hi) - 1)
#define AT(row, col, pitch) ((row) * (pitch) + (col))
#define LOAD(buffer, i, n) ((i) < (n) ? (buffer)[i] : 0.0f)

typedef struct {{
    float4 position;
    float reading;
    int kind;
}} station_t;

float smooth_edge(float x, float low, float high)
{{
    const float t = clamp((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}}

uint mixed_bits(uint x)
{{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
}}
"""

POINTWISE = """
// kernelcast: global=N N={size} x=N y=N
__kernel void {name}(__global const float *restrict x, __global float *restrict y, float gain, int n)
{{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float v = gain * x[i];
    {steps}
    y[i] = smooth_edge(v, 0.1f, 0.9f);
}}
"""

STENCIL = """
// kernelcast: global=(W, H) local=(16, 16) W={side} H={side} in=W*H out=W*H width=W height=H
__kernel void {name}(__global const float *restrict in, __global float *restrict out, int width, int height)
{{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float v = -INFINITY;
    for (int dy = -{radius}; dy <= {radius}; ++dy) {{
        for (int dx = -{radius}; dx <= {radius}; ++dx)
            v = fmax(v, in[AT(CLAMPED(y + dy, height), CLAMPED(x + dx, width), width)]);
    }}
    {steps}
    out[AT(y, x, width)] = v;
}}
"""

TILED = """
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void {name}(__global const float *a, __global const float *b, __global float *c, int n)
{{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    const int col = get_global_id(0), row = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    float v = 0.0f;
    for (int t = 0; t < n / TILE; ++t) {{
        tile_a[ly][lx] = a[AT(row, t * TILE + lx, n)];
        tile_b[ly][lx] = b[AT((int)get_group_id(0) * TILE + ly, t * TILE + lx, n)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k)
            v += SQUARE(tile_a[ly][k] - tile_b[lx][k]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    {steps}
    c[AT(row, col, n)] = v;
}}
"""

REDUCTION = """
// kernelcast: global={groups}*256 local=256 n={size} in=n partial={groups} scratch=256*4
kernel void {name}(global const float *in, global float *partial, local float *scratch, const uint n)
{{
    const uint lid = get_local_id(0);
    float v = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        v = fmax(v, fabs(in[i]));
    {steps}
    scratch[lid] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = get_local_size(0) / 2; reach > 0; reach >>= 1) {{
        if (lid < reach)
            scratch[lid] = fmax(scratch[lid], scratch[lid + reach]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (lid == 0)
        partial[get_group_id(0)] = scratch[0];
}}
"""

STATIONS = """
// kernelcast: global=sites local=64 sites={sites} count=64 stations=count field=sites
__kernel void {name}(__global const station_t *stations, __global float *field, int sites, int count, float falloff)
{{
    const int i = get_global_id(0);
    if (i >= sites)
        return;
    float weights = 0.0f, v = 0.0f;
    for (int j = 0; j < count; ++j) {{
        const float2 way = stations[j].position.xy - (float2)(i & 255, i >> 8);
        const float weight = 1.0f / (falloff + dot(way, way));
        weights += weight;
        v += weight * stations[j].reading;
    }}
    {steps}
    field[i] = v / weights;
}}
"""

SKETCH = """
// kernelcast: global=n local=256 n={size} keys=n sketch=256 fill.keys=randint:0:1000000
kernel void {name}(global const uint *keys, volatile global uint *sketch, uint n, float scale)
{{
    const uint i = get_global_id(0);
    if (i < n) {{
        float v = scale * (keys[i] & 0xffffu);
        {steps}
        atomic_max(&sketch[mixed_bits(keys[i]) & 255u], (uint)fabs(v));
    }}
}}
"""

SPARSE_ROWS = """
// kernelcast: global=rows rows={rows} start=rows+1 col=rows*8 trust=rows*8 x=rows y=rows fill.start=csr_rows:rows*8
__kernel void {name}(__global const int *start, __global const int *col, __global const float *trust,
                     __global const float *x, __global float *y, int rows)
{{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    float v = 0.0f;
    for (int k = start[row]; k < start[row + 1]; ++k)
        v = fmax(v, fmin(trust[k], x[col[k] % rows]));
    {steps}
    y[row] = v;
}}
"""

IMAGE = """
// kernelcast: global=(W, H) W={side} H={side} src=(W, H) dst=(W, H)
__kernel void {name}(read_only image2d_t src, write_only image2d_t dst, float amount)
{{
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const float4 pixel = read_imagef(src, nearest, at);
    float v = amount * dot(pixel.xyz, (float3)(0.299f, 0.587f, 0.114f));
    {steps}
    write_imagef(dst, at, (float4)(v, pixel.y, pixel.z, 1.0f));
}}
"""

TEMPLATES = (POINTWISE, STENCIL, TILED, REDUCTION, STATIONS, SKETCH, SPARSE_ROWS, IMAGE)
VERBS = ("blend", "relax", "project", "scatter", "advance", "filter", "update", "gather")

STEPS: tuple[Callable[[random.Random], str], ...] = (
    lambda r: f"v = fma(v, {r.uniform(0.5, 1.5):.3f}f, {r.uniform(-1, 1):.3f}f);",
    lambda r: f"v += {r.uniform(0.01, 0.2):.3f}f * sin(v * {r.uniform(1, 6):.2f}f);",
    lambda r: f"v = v > {r.uniform(0.5, 4):.2f}f ? sqrt(v) : SQUARE(v);",
    lambda r: (
        f"v = mix(v, {r.uniform(0, 2):.2f}f, smooth_edge(v, {r.uniform(0, 0.4):.2f}f, {r.uniform(0.6, 1):.2f}f));"
    ),
    lambda r: f"v /= 1.0f + {r.uniform(0.1, 2):.2f}f * fabs(v);",
    lambda r: f"// keep the value within what step {r.randint(1, 99)} can represent",
    lambda r: f"v = clamp(v, -{r.uniform(10, 90):.1f}f, {r.uniform(10, 90):.1f}f);",
    lambda r: (
        f"for (int step = 0; step < {r.randint(2, 12)}; ++step) v = native_exp(-v) + {r.uniform(0, 1):.2f}f * step;"
    ),
    lambda r: f"if (v < {r.uniform(-3, 0):.2f}f) v = -v;",
)


def generate_file(lines: int, kernels: int, seed: int) -> str:
    """A file of exactly `lines` lines with `kernels` kernels named `<verb>_0`, `<verb>_1`, ...

    Raises ValueError where so many kernels do not fit: each needs 30 lines, and the preamble 40.
    """
    parts = [PREAMBLE.format(kernels=kernels, seed=seed)]
    left = lines - parts[0].count("\n")
    if left < 30 * kernels:
        raise ValueError(f"{kernels} kernels do not fit into {lines} lines; {40 + 30 * kernels} would do")
    rng = random.Random(seed)
    for number in range(kernels):
        part = _kernel(rng, number, left // (kernels - number))
        parts.append(part)
        left -= part.count("\n")
    return "".join(parts) + "\n" * left


def _kernel(rng: random.Random, number: int, lines: int) -> str:
    """One kernel of exactly `lines` lines; straight-line steps make up what its template lacks."""
    template = TEMPLATES[number % len(TEMPLATES)]
    text = template.format(
        name=f"{rng.choice(VERBS)}_{number}",
        size=4096 * rng.randint(16, 512),
        side=128 * rng.randint(2, 8),
        radius=rng.randint(1, 3),
        groups=rng.choice((16, 32, 64)),
        sites=64 * rng.randint(8, 64),
        rows=1024 * rng.randint(4, 64),
        steps="{steps}",
    )
    missing = lines - (text.count("\n") - 1)
    steps = [rng.choice(STEPS)(rng) for _ in range(missing)]
    return re.sub(r"^( *)\{steps\}$", lambda at: "\n".join(at[1] + step for step in steps), text, flags=re.MULTILINE)
