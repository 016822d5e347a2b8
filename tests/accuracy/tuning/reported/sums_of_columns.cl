// kernelcast: global=(C/WIDE, PARTS) local=(16, 1) R=1024 C=2048 in=R*C out=C*PARTS -DWIDE=1 -DPARTS=1 -DUNROLL=1 tune.WIDE=1,2,4,8 tune.PARTS=1,2,4,8 tune.UNROLL=1,4 tune.local=(8,1),(16,1),(32,1),(64,1),(128,1)
__kernel void sums_of_columns(__global const float *in, __global float *out, const int R, const int C)
{
    const int x = get_global_id(0) * WIDE, part = get_global_id(1), share = R / PARTS;
    float sums[WIDE];
    for (int i = 0; i < WIDE; ++i)
        sums[i] = 0.0f;
    #pragma unroll UNROLL
    for (int y = part * share; y < (part + 1) * share; ++y)
        for (int i = 0; i < WIDE; ++i)
            sums[i] += in[y * C + x + i];
    for (int i = 0; i < WIDE; ++i)
        out[part * C + x + i] = sums[i];
}
