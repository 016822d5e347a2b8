// kernelcast: global=(N/COLS, N) local=(16, 8) N=160 a=N*N b=N*N c=N*N -DCOLS=1 -DUNROLL=1 -DSTRIDED=0 tune.COLS=1,2,4,8 tune.UNROLL=1,2,4,8 tune.STRIDED=0,1 tune.local=(4,4),(8,8),(16,4),(16,8),(8,16),(40,1),(40,4),(20,8)
__kernel void product_of_columns(__global const float *a, __global const float *b, __global float *c, const int N)
{
    const int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    float sums[COLS];
    for (int j = 0; j < COLS; ++j)
        sums[j] = 0.0f;
    #pragma unroll UNROLL
    for (int k = 0; k < N; ++k) {
        const float left = a[y * N + k];
        for (int j = 0; j < COLS; ++j)
            sums[j] += left * b[k * N + (STRIDED ? j * width + x : x * COLS + j)];
    }
    for (int j = 0; j < COLS; ++j)
        c[y * N + (STRIDED ? j * width + x : x * COLS + j)] = sums[j];
}
