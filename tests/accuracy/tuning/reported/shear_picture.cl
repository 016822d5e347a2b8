// kernelcast: global=(W/PER, H) local=(16, 4) W=1024 H=1024 in=W*H out=W*H -DPER=1 -DUNROLL=1 tune.PER=1,2,4,8 tune.UNROLL=1,2 tune.local=(4,4),(8,8),(16,4),(16,16),(32,1),(32,4),(64,1),(64,2),(128,1)
__kernel void shear_picture(__global const float *in, __global float *out, const int W, const int H)
{
    const int y = get_global_id(1);
    #pragma unroll UNROLL
    for (int j = 0; j < PER; ++j) {
        const int x = get_global_id(0) * PER + j;
        out[y * W + x] = in[((y + x / 4) & (H - 1)) * W + ((x + y / 4) & (W - 1))];
    }
}
