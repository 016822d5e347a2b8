// kernelcast: global=(N, N) local=(TILE, TILE) N=128 a=N*N b=N*N c=N*N -DTILE=8 -DFIRST=0 -DPAD=0 -DUNROLL=1 tune.TILE=4,8,16,32 tune.FIRST=0,1 tune.PAD=0,1 tune.UNROLL=1,2,4,8 where UNROLL<=TILE
__kernel void product_by_tiles(__global const float *a, __global const float *b, __global float *c, const int N)
{
    __local float left[TILE][TILE + PAD], right[TILE][TILE + PAD];
    const int x = get_global_id(FIRST), y = get_global_id(1 - FIRST), i = get_local_id(FIRST), j = get_local_id(1 - FIRST);
    float sum = 0.0f;
    for (int k0 = 0; k0 < N; k0 += TILE) {
        left[j][i] = a[y * N + k0 + i];
        right[j][i] = b[(k0 + j) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll UNROLL
        for (int k = 0; k < TILE; ++k)
            sum += left[j][k] * right[k][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * N + x] = sum;
}
