/* Where height lines cross the cells of a grid: sixteen cases by the corners, and how many segments each gives. */

__constant uchar segments[16] = {0, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 0};

// kernelcast: global=(w-1, h-1) local=(8, 4) w=33 h=25 heights=w*h cases=(w-1)*(h-1) total=1 level=1.0 fill.total=zeros name=s1
// kernelcast: global=(w-1, h-1) local=(10, 1) w=71 h=12 heights=w*h cases=(w-1)*(h-1) total=1 level=0.7 fill.total=zeros name=s2
// kernelcast: global=(w-1, h-1) local=(16, 16) w=49 h=33 heights=w*h cases=(w-1)*(h-1) total=1 level=1.3 fill.total=zeros name=s3
// kernelcast: global=(w-1, h-1) local=(32, 4) w=257 h=129 heights=w*h cases=(w-1)*(h-1) total=1 level=1.0 fill.total=zeros name=measure
__kernel void contour_cells(__global const float *restrict heights,
                            __global uchar *restrict cases,
                            __global int *total,
                            const int w,
                            const float level)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * w + x;
    const int shape = (heights[at] > level) | (heights[at + 1] > level) << 1 | (heights[at + w + 1] > level) << 2
                    | (heights[at + w] > level) << 3;
    cases[y * (w - 1) + x] = (uchar)shape;
    atomic_add(total, (int)segments[shape]);
}
