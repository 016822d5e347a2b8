/* Rays through shapes, densities and trees of boxes: they end where they hit, fade or leave. */

#define COUNT(place)

float distance_to_scene(float3 p)
{
    const float3 cell = p - 4.0f * floor(p * 0.25f) - 2.0f;
    return fmin(length(cell) - 0.7f, p.y + 3.0f);
}

// kernelcast: global=(W, H) local=(8, 8) W=80 H=64 depth=W*H far=60 name=spheres
__kernel void trace_spheres(__global float *depth, const float far)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    const float3 way = normalize((float3)((x - 0.5f * w) / w, (0.4f * h - y) / h, 1.0f));
    float3 at = (float3)(0.3f, 0.2f, 0.0f);
    float gone = 0.0f;
    for (int step = 0; step < 200; step++) {
        COUNT(trace_spheres_step);
        const float free = distance_to_scene(at + gone * way);
        if (free < 0.001f * gone)
            break;
        gone += free;
        if (gone > far)
            break;
    }
    depth[y * w + x] = gone;
}

// kernelcast: global=(W, H) local=(16, 4) W=64 H=48 D=128 density=W*H*D light=W*H fill.density=uniform:0:0.2 name=mist
// kernelcast: global=(W, H) local=(16, 4) W=64 H=48 D=128 density=W*H*D light=W*H name=plain
__kernel void march_density(__global const float *density, __global float *light, const int D)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    float passes = 1.0f, sum = 0.0f;
    for (int z = 0; z < D && passes > 0.01f; z++) {
        COUNT(march_density_slice);
        const float here = density[(z * h + y) * w + x];
        if (here > 0.15f) {
            COUNT(march_density_thick);
            sum += passes * here * exp(-0.02f * z);
        }
        passes *= 1.0f - 0.5f * here;
    }
    light[y * w + x] = sum;
}

// kernelcast: global=rays local=32 rays=928 side=64 cells=side*side hits=rays fill.cells=randint:0:12 name=sparse
// kernelcast: global=rays local=32 rays=928 side=64 cells=side*side hits=rays name=plain
__kernel void cross_cells(__global const uchar *cells, __global int *hits, const int side)
{
    const int ray = get_global_id(0);
    const float angle = 6.2831853f * ray / get_global_size(0);
    const float2 way = (float2)(cos(angle), sin(angle));
    int2 cell = (int2)(side / 2, side / 2);
    const int2 step = (int2)(way.x < 0.0f ? -1 : 1, way.y < 0.0f ? -1 : 1);
    const float2 delta = fabs(1.0f / way);
    float2 next = 0.5f * delta;
    int crossed = 0;
    while (cell.x >= 0 && cell.y >= 0 && cell.x < side && cell.y < side) {
        COUNT(cross_cells_cell);
        if (cells[cell.y * side + cell.x] == 3)
            break;
        if (next.x < next.y) {
            next.x += delta.x;
            cell.x += step.x;
        } else {
            next.y += delta.y;
            cell.y += step.y;
        }
        crossed++;
    }
    hits[ray] = crossed;
}

// kernelcast: global=queries local=32 queries=416 leaves=1024 points=leaves at=queries nearest=queries fill.points=sorted:0:1 fill.at=uniform:0:1 name=sorted
__kernel void nearest_in_tree(__global const float *points, __global const float *at, __global float *nearest, const int leaves)
{
    int2 stack[24];
    int used = 0;
    const float x = at[get_global_id(0)];
    float best = 1e30f;
    stack[used++] = (int2)(0, leaves);
    while (used) {
        COUNT(nearest_in_tree_range);
        const int2 range = stack[--used];
        const float low = points[range.x], high = points[range.y - 1];
        if (x < low - best || x > high + best)
            continue;
        if (range.y - range.x <= 4) {
            COUNT(nearest_in_tree_leaf);
            for (int k = range.x; k < range.y; k++)
                best = fmin(best, fabs(points[k] - x));
            continue;
        }
        const int middle = (range.x + range.y) / 2;
        if (x < points[middle]) {
            stack[used++] = (int2)(middle, range.y);
            stack[used++] = (int2)(range.x, middle);
        } else {
            stack[used++] = (int2)(range.x, middle);
            stack[used++] = (int2)(middle, range.y);
        }
    }
    nearest[get_global_id(0)] = best;
}

typedef struct { float4 low, high; } Box;

// kernelcast: global=rays local=16 rays=256 boxes=200 hit=rays fill.boxes=uniform:0:10 name=random
// kernelcast: global=rays local=16 rays=256 boxes=200 hit=rays name=plain
__kernel void first_box(__global const Box *boxes, __global int *hit)
{
    const int ray = get_global_id(0);
    const float4 p = (float4)(0.039f * ray, 10.0f - 0.03f * ray, 5.0f, 0.0f);
    int found = -1;
    for (int k = 0; k < 200 && found < 0; k++) {
        COUNT(first_box_look);
        if (all(p.xyz >= boxes[k].low.xyz) && all(p.xyz <= boxes[k].high.xyz))
            found = k;
    }
    hit[ray] = found;
}
