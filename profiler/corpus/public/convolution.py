"""A 15 x 15 filter over an image of floats: each work-item computes a tile of TILE_SIZE_X x TILE_SIZE_Y pixels.

Neighbours in a tile lie a work-group apart, so that the lanes of a warp stand next to each other. With USE_SHMEM the
group first loads what it needs into local memory; with USE_PADDING the rows there begin BLOCK_SIZE_X banks apart.
Whether anything lies beyond the image is looked at only where the groups do not divide it (PASSES_EDGE).
"""

from __future__ import annotations

from math import ceil

from model.launch.launch import Launch
from profiler.corpus.public.row import PublicLaunch, PublicRow, Settings, defined, settings

IMAGE, FILTER = 4096, 15  # pixels on a side
MACROS = ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "use_shmem", "use_padding")
_SOURCE = """
#define FILTER 15
#define BORDER (FILTER - 1)
#define OUT_X (BLOCK_SIZE_X * TILE_SIZE_X)
#define OUT_Y (BLOCK_SIZE_Y * TILE_SIZE_Y)
#if USE_PADDING
#define PITCH (OUT_X + BORDER + (32 - (OUT_X + BORDER - BLOCK_SIZE_X) % 32) % 32)
#else
#define PITCH (OUT_X + BORDER)
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK_SIZE_X, BLOCK_SIZE_Y, 1)))
void convolution(__global float *restrict output, __global const float *restrict input,
                 __constant float *restrict weights, const int width, const int height) {
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int left = get_group_id(0) * OUT_X, top = get_group_id(1) * OUT_Y;
    const int pitch = width + BORDER;
#if USE_SHMEM
    __local float near[OUT_Y + BORDER][PITCH];
    #pragma unroll
    for (int y = ty; y < OUT_Y + BORDER; y += BLOCK_SIZE_Y) {
        #pragma unroll
        for (int x = tx; x < OUT_X + BORDER; x += BLOCK_SIZE_X) {
#if PASSES_EDGE
            near[y][x] = top + y < height + BORDER && left + x < pitch ? input[(top + y) * pitch + left + x] : 0.0f;
#else
            near[y][x] = input[(top + y) * pitch + left + x];
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    float sum[TILE_SIZE_Y][TILE_SIZE_X];
    #pragma unroll
    for (int v = 0; v < TILE_SIZE_Y; ++v) {
        #pragma unroll
        for (int u = 0; u < TILE_SIZE_X; ++u) sum[v][u] = 0.0f;
    }
    #pragma unroll
    for (int j = 0; j < FILTER; ++j) {
        #pragma unroll
        for (int i = 0; i < FILTER; ++i) {
            const float weight = weights[j * FILTER + i];
            #pragma unroll
            for (int v = 0; v < TILE_SIZE_Y; ++v) {
                #pragma unroll
                for (int u = 0; u < TILE_SIZE_X; ++u) {
                    const int x = tx + u * BLOCK_SIZE_X + i, y = ty + v * BLOCK_SIZE_Y + j;
#if USE_SHMEM
                    sum[v][u] += near[y][x] * weight;
#elif PASSES_EDGE
                    if (top + y < height + BORDER && left + x < pitch) {
                        sum[v][u] += input[(top + y) * pitch + left + x] * weight;
                    }
#else
                    sum[v][u] += input[(top + y) * pitch + left + x] * weight;
#endif
                }
            }
        }
    }
    #pragma unroll
    for (int v = 0; v < TILE_SIZE_Y; ++v) {
        #pragma unroll
        for (int u = 0; u < TILE_SIZE_X; ++u) {
            const int x = left + tx + u * BLOCK_SIZE_X, y = top + ty + v * BLOCK_SIZE_Y;
#if PASSES_EDGE
            if (x < width && y < height) output[y * width + x] = sum[v][u];
#else
            output[y * width + x] = sum[v][u];
#endif
        }
    }
}
"""


def passes_the_edge(values: Settings) -> bool:
    """Return whether the last work-groups reach beyond the image, where the original reads outside its buffers."""
    known = {name: int(value) for name, value in values}
    return any(IMAGE % (known[f"block_size_{way}"] * known[f"tile_size_{way}"]) for way in "xy")


def convolution(row: PublicRow) -> PublicLaunch:
    return of_size(row, IMAGE, IMAGE)


def of_size(row: PublicRow, width: int, height: int) -> PublicLaunch:
    """Return the same on a smaller image, for tests."""
    known = {name: int(value) for name, value in row.settings}
    group = known["block_size_x"], known["block_size_y"]
    out = group[0] * known["tile_size_x"], group[1] * known["tile_size_y"]
    launch = Launch(
        (ceil(width / out[0]) * group[0], ceil(height / out[1]) * group[1]),
        group,
        scalars=(("width", width), ("height", height)),
        buffers=(
            ("output", width * height),
            ("input", (width + FILTER - 1) * (height + FILTER - 1)),
            ("weights", FILTER * FILTER),
        ),
    )
    macros = {**dict(row.settings), "passes_edge": int(width % out[0] + height % out[1] > 0)}
    return PublicLaunch(_SOURCE, "convolution", defined(settings(macros), (*MACROS, "passes_edge")), launch)
