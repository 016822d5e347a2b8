/* Which cube root of one Newton's method ends at, for a raster of complex start values. */

#define STEPS 12

typedef float2 complex_t;

complex_t multiply(const complex_t a, const complex_t b)
{
    return (complex_t)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

complex_t divide(const complex_t a, const complex_t b)
{
    const float scale = 1.0f / (b.x * b.x + b.y * b.y + 1e-20f);
    return (complex_t)((a.x * b.x + a.y * b.y) * scale, (a.y * b.x - a.x * b.y) * scale);
}

// kernelcast: global=(W, H) local=(8, 4) W=32 H=24 basin=W*H centre_x=0 centre_y=0 scale=0.1 name=s1
// kernelcast: global=(W, H) local=(16, 1) W=48 H=20 basin=W*H centre_x=-0.5 centre_y=0.25 scale=0.01 name=s2
// kernelcast: global=(W, H) local=(5, 5) W=15 H=55 basin=W*H centre_x=1 centre_y=1 scale=0.5 name=s3
// kernelcast: global=(W, H) local=(16, 8) W=256 H=128 basin=W*H centre_x=0 centre_y=0 scale=0.005 name=measure
__kernel void newton_basins(__global uchar *basin, const float centre_x, const float centre_y, const float scale)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    complex_t z = (complex_t)(centre_x + scale * (x - (int)get_global_size(0) / 2),
                              centre_y + scale * (y - (int)get_global_size(1) / 2));

    for (int step = 0; step < STEPS; ++step) {
        const complex_t square = multiply(z, z);
        const complex_t cube = multiply(square, z);
        z -= divide(cube - (complex_t)(1.0f, 0.0f), 3.0f * square);
    }
    basin[y * get_global_size(0) + x] = z.x > 0.0f ? 0 : z.y > 0.0f ? 1 : 2;
}
