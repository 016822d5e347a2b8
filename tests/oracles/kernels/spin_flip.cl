/* A magnet's spins on a checkerboard: one colour flips where that lowers the energy or chance allows. */

// kernelcast: global=(half_width, height) local=(16, 2) half_width=32 height=16 spins=half_width*2*height coins=half_width*height colour=0 beta=0.4 fill.spins=const:1 fill.coins=uniform:0.9:1 name=s1
// kernelcast: global=(half_width, height) local=(4, 4) half_width=20 height=24 spins=half_width*2*height coins=half_width*height colour=1 beta=0.4 fill.spins=const:1 fill.coins=uniform:0.9:1 name=s2
// kernelcast: global=(half_width, height) local=(8, 8) half_width=64 height=16 spins=half_width*2*height coins=half_width*height colour=1 beta=0.2 fill.spins=const:-1 fill.coins=uniform:0:1 name=s3
// kernelcast: global=(half_width, height) local=(32, 4) half_width=256 height=256 spins=half_width*2*height coins=half_width*height colour=0 beta=0.4 fill.spins=const:1 fill.coins=uniform:0:1 name=measure
__kernel void spin_flip(__global char *spins, __global const float *coins, const int colour, const float beta)
{
    const int y = get_global_id(1), height = get_global_size(1), width = 2 * get_global_size(0);
    const int x = 2 * get_global_id(0) + ((y + colour) & 1);
    const int up = (y == 0 ? height - 1 : y - 1) * width, down = (y == height - 1 ? 0 : y + 1) * width;
    const int left = (x + width - 1) % width, right = (x + 1) % width;

    const int here = y * width + x;
    const int around = spins[up + x] + spins[down + x] + spins[y * width + left] + spins[y * width + right];
    const float cost = 2.0f * spins[here] * around;
    if (cost <= 0.0f || coins[y * get_global_size(0) + get_global_id(0)] < native_exp(-beta * cost))
        spins[here] = -spins[here];
}
