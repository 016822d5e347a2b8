// kernelcast: global=n/WIDE local=64 n=1048576 x=n y=n DEGREE=16 -DDEGREE=16 -DWIDE=1 -DWAY=0 -DUNROLL=1 tune.WIDE=1,2,4,8 tune.WAY=0,1 tune.UNROLL=1,4,16 tune.local=16,64,256
__kernel void polynomial_of_each(__global const float *x, __global float *y)
{
    const int first = get_global_id(0) * WIDE;
    float own[WIDE], sums[WIDE];
    for (int j = 0; j < WIDE; ++j) {
        own[j] = x[first + j];
        sums[j] = 0.5f;
    }
    #pragma unroll UNROLL
    for (int k = 0; k < DEGREE; ++k)
        for (int j = 0; j < WIDE; ++j)
            sums[j] = WAY ? fma(sums[j], own[j], 0.25f) : sums[j] * own[j] + 0.25f;
    for (int j = 0; j < WIDE; ++j)
        y[first + j] = sums[j];
}
