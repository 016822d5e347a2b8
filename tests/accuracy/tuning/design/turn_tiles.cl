// kernelcast: global=(N, N/PER) local=(TILE, TILE/PER) N=1024 in=N*N out=N*N -DTILE=16 -DPER=1 -DPAD=1 tune.TILE=4,8,16,32,64 tune.PER=1,2,4,8,16 tune.PAD=0,1,4 where PER<=TILE and TILE*TILE/PER<=1024
__kernel void turn_tiles(__global const float *in, __global float *out, const int N)
{
    __local float tile[TILE][TILE + PAD];
    const int x = get_group_id(0) * TILE, y = get_group_id(1) * TILE, i = get_local_id(0);
    for (int j = get_local_id(1); j < TILE; j += TILE / PER)
        tile[j][i] = in[(y + j) * N + x + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = get_local_id(1); j < TILE; j += TILE / PER)
        out[(x + j) * N + y + i] = tile[i][j];
}
