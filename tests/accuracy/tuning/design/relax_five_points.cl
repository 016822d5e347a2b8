// kernelcast: global=(W/ACROSS, H/DOWN) local=(32, 4) W=1024 H=1024 in=(W+2)*(H+2) out=W*H -DACROSS=1 -DDOWN=1 tune.ACROSS=1,2,4 tune.DOWN=1,2,4,8 tune.local=(8,8),(16,4),(16,16),(32,2),(32,4),(64,1),(64,4),(128,1),(256,1)
__kernel void relax_five_points(__global const float *in, __global float *out, const int W, const int H)
{
    const int x0 = get_global_id(0) * ACROSS, y0 = get_global_id(1) * DOWN, row = W + 2;
    for (int dy = 0; dy < DOWN; ++dy)
        for (int dx = 0; dx < ACROSS; ++dx) {
            const int x = x0 + dx, y = y0 + dy, at = (y + 1) * row + x + 1;
            out[y * W + x] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - row] + in[at + row]);
        }
}
