/* Which of a few centres each point lies nearest to: coordinates in separate arrays, centres in constant memory. */

// kernelcast: global=ceil_div(points,64)*64 local=64 points=700 centres=8 xs=points ys=points zs=points middle=centres nearest=points fill.middle=uniform:0:2 name=s1
// kernelcast: global=ceil_div(points,32)*32 local=32 points=100 centres=40 xs=points ys=points zs=points middle=centres nearest=points fill.middle=uniform:0:2 name=s2
// kernelcast: global=1024 local=128 points=900 centres=3 xs=points ys=points zs=points middle=centres nearest=points fill.middle=uniform:0:2 name=s3
// kernelcast: global=ceil_div(points,64)*64 local=64 points=200000 centres=16 xs=points ys=points zs=points middle=centres nearest=points fill.middle=uniform:0:2 name=measure
__kernel void nearest_centre(__global const float *restrict xs,
                             __global const float *restrict ys,
                             __global const float *restrict zs,
                             __constant float4 *middle,
                             __global uchar *restrict nearest,
                             const int points,
                             const int centres)
{
    const int i = get_global_id(0);
    if (i >= points)
        return;
    float least = INFINITY;
    int which = 0;
    for (int c = 0; c < centres; ++c) {
        const float dx = xs[i] - middle[c].x, dy = ys[i] - middle[c].y, dz = zs[i] - middle[c].z;
        const float d = dx * dx + dy * dy + dz * dz;
        which = d < least ? c : which;
        least = fmin(d, least);
    }
    nearest[i] = (uchar)which;
}
