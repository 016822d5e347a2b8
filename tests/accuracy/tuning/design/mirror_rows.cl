// kernelcast: global=(W, H/ROWS) local=(64, 1) W=2048 H=512 in=W*H out=W*H -DROWS=1 -DSWAP=0 tune.ROWS=1,2,4,8,16 tune.SWAP=0,1 tune.local=(16,1),(64,1),(256,1),(16,4),(64,4),(4,16),(1,32),(16,16)
__kernel void mirror_rows(__global const float *in, __global float *out, const int W, const int H)
{
    const int x = get_global_id(0), y0 = get_global_id(1), strips = get_global_size(1);
    for (int j = 0; j < ROWS; ++j) {
        const int y = SWAP ? y0 * ROWS + j : j * strips + y0;
        out[y * W + x] = in[y * W + (W - 1 - x)] * 0.5f;
    }
}
