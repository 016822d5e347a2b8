/* Pixels and their surroundings: what they hold ends the look around. */

#define COUNT(place)

// kernelcast: global=(W, H) local=(16, 8) W=128 H=64 cells=W*H crowded=W*H fill.cells=randint:0:2 name=half
// kernelcast: global=(W, H) local=(16, 8) W=128 H=64 cells=W*H crowded=W*H name=plain
__kernel void crowded_cells(__global const uchar *cells, __global uchar *crowded)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int seen = 0;
    for (int dy = -2; dy <= 2 && seen < 4; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            COUNT(crowded_cells_look);
            const int sx = clamp(x + dx, 0, w - 1), sy = clamp(y + dy, 0, h - 1);
            if (cells[sy * w + sx] == 1 && ++seen >= 4)
                break;
        }
    crowded[y * w + x] = seen >= 4;
}

// kernelcast: global=(W, H) local=(8, 8) W=32 H=24 stride=64 image=stride*48 pattern=64 best=W*H fill.image=uniform:0:1 fill.pattern=uniform:0:1 name=noise
// kernelcast: global=(W, H) local=(8, 8) W=32 H=24 stride=64 image=stride*48 pattern=64 best=W*H name=plain
__kernel void match_block(__global const float *image, __constant float *pattern, __global int *best, const int stride)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float least = 1e30f;
    int where = 0;
    for (int shift = 0; shift < 16; shift++) {
        COUNT(match_block_shift);
        float difference = 0.0f;
        int row = 0;
        while (row < 8 && difference < least) {
            COUNT(match_block_row);
            for (int column = 0; column < 8; column++)
                difference += fabs(image[(y + row) * stride + x + column + shift] - pattern[8 * row + column]);
            row++;
        }
        if (difference < least) {
            COUNT(match_block_better);
            least = difference;
            where = shift;
            best[y * get_global_size(0) + x] = where;
        }
    }
}

// kernelcast: global=(W, H) local=(32, 2) W=160 H=40 walls=W*H free=W*H fill.walls=randint:0:20 name=sparse
// kernelcast: global=(W, H) local=(32, 2) W=160 H=40 walls=W*H free=W*H name=plain
__kernel void free_to_the_left(__global const uchar *walls, __global ushort *free)
{
    const int x = get_global_id(0), w = get_global_size(0), row = get_global_id(1) * w;
    int left = x;
    while (left > 0 && walls[row + left - 1] != 7) {
        COUNT(free_to_the_left_cell);
        --left;
    }
    free[row + x] = x - left;
}

// kernelcast: global=tiles local=16 tiles=256 pixels=64*tiles medians=tiles fill.pixels=randint:0:256 name=bytes
// kernelcast: global=tiles local=16 tiles=256 pixels=64*tiles medians=tiles name=plain
__kernel void median_by_counts(__global const uchar *pixels, __global uchar *medians)
{
    uchar counts[32];
    const int tile = get_global_id(0);
    for (int k = 0; k < 32; k++)
        counts[k] = 0;
    for (int k = 0; k < 64; k++)
        counts[pixels[64 * tile + k] >> 3]++;
    int bin = 0, below = counts[0];
    while (below < 32) {
        COUNT(median_by_counts_bin);
        below += counts[++bin];
    }
    medians[tile] = 8 * bin;
}

// kernelcast: global=n local=64 n=4096 values=n kept=n used=1 threshold=0.8 fill.values=uniform:0:1 name=fifth
// kernelcast: global=n local=64 n=4096 values=n kept=n used=1 threshold=0.8 name=plain
// kernelcast: global=n local=64 n=4096 values=n kept=n used=1 threshold=0.8 fill.values=clustered:0:1:0.002 name=near
__kernel void keep_large(__global const float *values, __global float *kept, __global int *used, const float threshold)
{
    const float value = values[get_global_id(0)];
    if (value > threshold) {
        COUNT(keep_large_kept);
        kept[atomic_inc(used)] = value;
    }
}

// kernelcast: global=(W, H) local=(8, 8) W=64 H=64 labels=W*H ends=W*H fill.labels=randint:0:4 name=four
__kernel void slide_down(__global const uchar *labels, __global int *ends)
{
    const int x = get_global_id(0), w = get_global_size(0), h = get_global_size(1);
    int2 at = (int2)(x, get_global_id(1));
    int n = 0;
    for (; at.y < h; n++) {
        COUNT(slide_down_step);
        const uchar label = labels[at.y * w + at.x];
        if (label == 0)
            break;
        switch (label) {
        case 1:
            at.x = max(at.x - 1, 0);
            at.y++;
            break;
        case 2:
            at.x = min(at.x + 1, w - 1);
        default:
            at.y++;
        }
    }
    ends[get_global_id(1) * w + x] = n;
}
