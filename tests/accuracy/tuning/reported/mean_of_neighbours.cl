// kernelcast: global=(W/PER, H) local=(64, 1) W=1024 H=512 R=8 in=(W+2*R)*H out=W*H -DPER=1 -DSLIDE=0 -DUNROLL=1 tune.PER=1,2,4,8,16,32 tune.SLIDE=0,1 tune.UNROLL=1,4 tune.local=(8,1),(16,1),(32,1),(8,8),(16,4),(4,32)
__kernel void mean_of_neighbours(__global const float *in, __global float *out, const int W, const int R)
{
    const int x = get_global_id(0) * PER, y = get_global_id(1);
    __global const float *row = in + y * (W + 2 * R);
    float sum = 0.0f;
    for (int k = 0; k < 2 * R + 1; ++k)
        sum += row[x + k];
    out[y * W + x] = sum / (2 * R + 1);
    for (int j = 1; j < PER; ++j) {
#if SLIDE
        sum += row[x + j + 2 * R] - row[x + j - 1];
#else
        sum = 0.0f;
        #pragma unroll UNROLL
        for (int k = 0; k < 2 * R + 1; ++k)
            sum += row[x + j + k];
#endif
        out[y * W + x + j] = sum / (2 * R + 1);
    }
}
