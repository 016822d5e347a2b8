// kernelcast: global=(W/PER, H) local=(16, 8) W=1024 H=1024 in=(W+2)*(H+2) out=W*H -DPER=1 -DROOT=0 -DSTRIDED=0 tune.PER=1,2,4,8 tune.ROOT=0,1,2 tune.STRIDED=0,1 tune.local=(8,8),(16,8),(32,1),(32,8),(64,1),(128,1),(4,64)
__kernel void slopes_of_heights(__global const ushort *in, __global float *out, const int W)
{
    const int width = get_global_size(0), y = get_global_id(1), row = W + 2;
    for (int j = 0; j < PER; ++j) {
        const int x = STRIDED ? j * width + get_global_id(0) : get_global_id(0) * PER + j, at = (y + 1) * row + x + 1;
        const float dx = (float)in[at + 1] - (float)in[at - 1], dy = (float)in[at + row] - (float)in[at - row];
#if ROOT == 0
        out[y * W + x] = sqrt(dx * dx + dy * dy);
#elif ROOT == 1
        out[y * W + x] = hypot(dx, dy);
#else
        out[y * W + x] = native_sqrt(dx * dx + dy * dy);
#endif
    }
}
