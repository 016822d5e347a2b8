/* Shrinks a picture by the size of a work-group: the mean of each tile, folded in local memory, in two dimensions. */

// kernelcast: global=(columns*8, rows*8) local=(8, 8) columns=5 rows=4 picture=columns*rows*64 small=columns*rows tile=64*4 name=s1
// kernelcast: global=(columns*4, rows*4) local=(4, 4) columns=10 rows=9 picture=columns*rows*16 small=columns*rows tile=16*4 name=s2
// kernelcast: global=(columns*16, rows*16) local=(16, 16) columns=2 rows=3 picture=columns*rows*256 small=columns*rows tile=256*4 name=s3
// kernelcast: global=(columns*16, rows*16) local=(16, 16) columns=40 rows=30 picture=columns*rows*256 small=columns*rows tile=256*4 name=measure
__kernel void tile_means(__global const float *restrict picture, __global float *restrict small, __local float *tile)
{
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int wide = get_local_size(0);
    const int at = ly * wide + lx;
    tile[at] = picture[get_global_id(1) * get_global_size(0) + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);

    const int all = wide * get_local_size(1);
    for (int half_way = all >> 1; half_way > 0; half_way >>= 1) {
        if (at < half_way)
            tile[at] += tile[at + half_way];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (at == 0)
        small[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = tile[0] / all;
}
