// kernelcast: global=batches*8/PER local=32 batches=8192 a=batches*64 b=batches*64 c=batches*64 -DPER=1 -DKEPT=0 -DUNROLL=1 tune.PER=1,2,4,8 tune.KEPT=0,1 tune.UNROLL=1,2,8 tune.local=8,16,32,64,128,256
__kernel void many_small_products(__global const float *a, __global const float *b, __global float *c)
{
    const int at = get_global_id(0) * PER, batch = at / 8;
#if KEPT
    float right[64];
    for (int k = 0; k < 64; ++k)
        right[k] = b[batch * 64 + k];
#else
    __global const float *right = b + batch * 64;
#endif
    for (int r = 0; r < PER; ++r) {
        const int row = (at + r) % 8;
        float sums[8];
        for (int x = 0; x < 8; ++x)
            sums[x] = 0.0f;
        #pragma unroll UNROLL
        for (int k = 0; k < 8; ++k) {
            const float left = a[batch * 64 + row * 8 + k];
            for (int x = 0; x < 8; ++x)
                sums[x] += left * right[k * 8 + x];
        }
        for (int x = 0; x < 8; ++x)
            c[batch * 64 + row * 8 + x] = sums[x];
    }
}
