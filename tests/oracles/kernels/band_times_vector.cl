/* A matrix with a few diagonals times a vector: the diagonals lie one after another, their offsets in a table. */

#define DIAGONALS 5

__constant int offsets[DIAGONALS] = {-17, -1, 0, 1, 17};

// kernelcast: global=ceil_div(n,64)*64 local=64 n=600 bands=n*5 x=n y=n name=s1
// kernelcast: global=ceil_div(n,32)*32 local=32 n=1001 bands=n*5 x=n y=n name=s2
// kernelcast: global=2048 local=256 n=1800 bands=n*5 x=n y=n name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=500000 bands=n*5 x=n y=n name=measure
__kernel void band_times_vector(__global const float *restrict bands,
                                __global const float *restrict x,
                                __global float *restrict y,
                                const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;

    float sum = 0.0f;
    for (int d = 0; d < DIAGONALS; ++d) {
        const int column = row + offsets[d];
        if (column >= 0 && column < n)
            sum += bands[d * n + row] * x[column];
    }
    y[row] = sum;
}
