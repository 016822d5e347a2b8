"""Dedispersion: for each dispersion measure, the samples of all channels added up, each channel shifted by its delay.

The delays come from a table; with TILE_STRIDE_X and _Y what one work-item computes lies a work-group apart, else side
by side. Samples are bytes.
"""

from __future__ import annotations

from math import ceil

from model.launch.launch import Fill, Launch
from profiler.corpus.public.row import PublicLaunch, PublicRow, defined

SAMPLES, MEASURES, CHANNELS = 25_000, 2048, 1536
MOST_DELAY = 650  # samples beyond the last
MACROS = ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "tile_stride_x", "tile_stride_y")
_SOURCE = """
#if TILE_STRIDE_X
#define STEP_X BLOCK_SIZE_X
#define FIRST_X get_local_id(0)
#else
#define STEP_X 1
#define FIRST_X (get_local_id(0) * TILE_SIZE_X)
#endif
#if TILE_STRIDE_Y
#define STEP_Y BLOCK_SIZE_Y
#define FIRST_Y get_local_id(1)
#else
#define STEP_Y 1
#define FIRST_Y (get_local_id(1) * TILE_SIZE_Y)
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK_SIZE_X, BLOCK_SIZE_Y, 1)))
void dedispersion(__global const uchar *restrict input, __global float *restrict output,
                  __global const float *restrict delays, const int samples, const int measures, const int channels,
                  const int pitch) {
    const int left = get_group_id(0) * BLOCK_SIZE_X * TILE_SIZE_X + FIRST_X;
    const int top = get_group_id(1) * BLOCK_SIZE_Y * TILE_SIZE_Y + FIRST_Y;
    for (int u = 0; u < TILE_SIZE_X; ++u) {
        const int sample = left + u * STEP_X;
        if (sample < samples) {
            for (int v = 0; v < TILE_SIZE_Y; ++v) {
                const int measure = top + v * STEP_Y;
                if (measure < measures) {
                    float sum = 0.0f;
                    for (int channel = 0; channel < channels; ++channel) {
                        const uint shift = (uint)(measure * delays[channel]);
                        sum += input[channel * pitch + sample + shift];
                    }
                    output[measure * samples + sample] = sum;
                }
            }
        }
    }
}
"""


def dedispersion(row: PublicRow) -> PublicLaunch:
    return of_size(row, SAMPLES, MEASURES, CHANNELS)


def of_size(row: PublicRow, samples: int, measures: int, channels: int) -> PublicLaunch:
    """Return the same launch with less to do, for tests.

    The source does not say the grid: it follows from tile and work-group.
    """
    known = {name: int(value) for name, value in row.settings}
    group = known["block_size_x"], known["block_size_y"]
    out = group[0] * known["tile_size_x"], group[1] * known["tile_size_y"]
    pitch = samples + MOST_DELAY
    launch = Launch(
        (ceil(samples / out[0]) * group[0], ceil(measures / out[1]) * group[1]),
        group,
        scalars=(("samples", samples), ("measures", measures), ("channels", channels), ("pitch", pitch)),
        buffers=(("input", channels * pitch), ("output", measures * samples), ("delays", channels)),
        fills=(("delays", Fill("uniform", (0.0, MOST_DELAY / measures))),),
    )
    return PublicLaunch(_SOURCE, "dedispersion", defined(row.settings, MACROS), launch)
