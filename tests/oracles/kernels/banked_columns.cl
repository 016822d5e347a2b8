/* Column totals of local tiles, once with items side by side in memory and once a whole row apart. */

#ifndef SIDE
#define SIDE 32
#endif

void fill_tile(__local float *tile, __global const float *from, const int lid)
{
    for (int k = 0; k < SIDE; ++k)
        tile[k * SIDE + lid] = from[k * SIDE + lid];
}

// kernelcast: global=tiles*32 local=32 tiles=6 values=tiles*1024 totals=tiles*32 -DSIDE=32 name=s1
// kernelcast: global=tiles*16 local=16 tiles=15 values=tiles*256 totals=tiles*16 -DSIDE=16 name=s2
// kernelcast: global=tiles*48 local=48 tiles=2 values=tiles*2304 totals=tiles*48 -DSIDE=48 name=s3
// kernelcast: global=tiles*32 local=32 tiles=1024 values=tiles*1024 totals=tiles*32 -DSIDE=32 name=measure
__kernel void banked_columns(__global const float *restrict values, __global float2 *restrict totals)
{
    __local float tile[SIDE * SIDE];
    const int lid = get_local_id(0);
    fill_tile(tile, values + get_group_id(0) * SIDE * SIDE, lid);
    barrier(CLK_LOCAL_MEM_FENCE);
    float down = 0.0f, across = 0.0f;
    for (int k = 0; k < SIDE; ++k) {
        down += tile[k * SIDE + lid];
        across += tile[lid * SIDE + k];
    }
    totals[get_global_id(0)] = (float2)(down, across);
}
