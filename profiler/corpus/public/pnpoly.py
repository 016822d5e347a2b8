"""Which of many points lie in a polygon: the edges that a ray from the point crosses are counted, odd is inside.

BETWEEN_METHOD is how it is told whether an edge begins below the point and ends above it, or the other way round;
USE_METHOD, how crossings are counted. Each work-item looks at TILE_SIZE points, a work-group apart.
"""

from __future__ import annotations

from math import ceil

from model.launch.launch import Launch
from profiler.corpus.public.row import PublicLaunch, PublicRow, defined

POINTS, VERTICES = 20_000_000, 600
MACROS = ("block_size_x", "tile_size", "between_method", "use_method")
_SOURCE = """
int between(const float a, const float p, const float b) {
#if BETWEEN_METHOD == 0
    return (a > p) != (b > p);
#elif BETWEEN_METHOD == 1
    return (a <= p && b > p) || (a > p && b <= p);
#elif BETWEEN_METHOD == 2
    return p - a == 0.0f || (p - a) * (p - b) < 0.0f;
#else
    return (p - a) * (p - b) < 0.0f || p - a == 0.0f;
#endif
}

__kernel __attribute__((reqd_work_group_size(BLOCK_SIZE_X, 1, 1)))
void pnpoly(__global int *restrict inside, __global const float2 *restrict points, __constant float2 *restrict polygon,
            const int count, const int vertices) {
    const int first = get_group_id(0) * BLOCK_SIZE_X * TILE_SIZE + get_local_id(0);
    int crossings[TILE_SIZE];
    float2 at[TILE_SIZE];
    #pragma unroll
    for (int t = 0; t < TILE_SIZE; ++t) {
        const int i = first + t * BLOCK_SIZE_X;
        crossings[t] = 0;
        at[t] = i < count ? points[i] : (float2)(0.0f, 0.0f);
    }
    int before = vertices - 1;
    for (int j = 0; j < vertices; before = j++) {
        const float2 from = polygon[j], to = polygon[before];
        const float slope = (to.x - from.x) / (to.y - from.y);
        #pragma unroll
        for (int t = 0; t < TILE_SIZE; ++t) {
#if USE_METHOD == 1
            const int is_between = between(from.y, at[t].y, to.y);
            crossings[t] += is_between && at[t].x < from.x + slope * (at[t].y - from.y);
#else
            if (between(from.y, at[t].y, to.y) && at[t].x < slope * (at[t].y - from.y) + from.x) {
#if USE_METHOD == 0
                crossings[t] = !crossings[t];
#else
                crossings[t] += 1;
#endif
            }
#endif
        }
    }
    #pragma unroll
    for (int t = 0; t < TILE_SIZE; ++t) {
        const int i = first + t * BLOCK_SIZE_X;
        if (i < count) inside[i] = crossings[t] & 1;
    }
}
"""


def pnpoly(row: PublicRow) -> PublicLaunch:
    return of_size(row, POINTS, VERTICES)


def of_size(row: PublicRow, points: int, vertices: int) -> PublicLaunch:
    """Return the same launch with less to do, for tests."""
    known = {name: int(value) for name, value in row.settings}
    group, tile = known["block_size_x"], known["tile_size"]
    launch = Launch(
        (ceil(points / (group * tile)) * group,),
        (group,),
        scalars=(("count", points), ("vertices", vertices)),
        buffers=(("inside", points), ("points", points), ("polygon", vertices)),
    )
    return PublicLaunch(_SOURCE, "pnpoly", defined(row.settings, MACROS), launch)
