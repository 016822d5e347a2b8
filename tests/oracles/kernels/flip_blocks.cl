/* Mirrors a picture along its diagonal in blocks through a padded tile, so that both sides are touched in rows. */

#define BLOCK 8

// kernelcast: global=(ceil_div(w,8)*8, ceil_div(h,8)*8) local=(8, 8) w=50 h=37 from=w*h to=w*h name=s1
// kernelcast: global=(ceil_div(w,8)*8, ceil_div(h,8)*8) local=(8, 8) w=64 h=16 from=w*h to=w*h name=s2
// kernelcast: global=(64, 64) local=(8, 8) w=61 h=59 from=w*h to=w*h name=s3
// kernelcast: global=(ceil_div(w,8)*8, ceil_div(h,8)*8) local=(8, 8) w=500 h=401 from=w*h to=w*h name=measure
__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1)))
void flip_blocks(__global const uint *restrict from, __global uint *restrict to, const int w, const int h)
{
    __local uint tile[BLOCK][BLOCK + 1]; /* one more column: the columns then lie in different banks */
    const int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * BLOCK + lx;
    int y = get_group_id(1) * BLOCK + ly;
    if (x < w && y < h)
        tile[ly][lx] = from[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);

    x = get_group_id(1) * BLOCK + lx;
    y = get_group_id(0) * BLOCK + ly;
    if (x < h && y < w)
        to[y * h + x] = tile[lx][ly];
}
