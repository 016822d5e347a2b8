/* Two chemicals that feed on each other make spots and stripes: one time step on a torus of power-of-two size. */

// kernelcast: global=(w, h) local=(16, 4) w=64 h=32 log_w=6 a=w*h b=w*h next_a=w*h next_b=w*h feed=0.055 kill_rate=0.062 name=s1
// kernelcast: global=(w, h) local=(8, 8) w=32 h=32 log_w=5 a=w*h b=w*h next_a=w*h next_b=w*h feed=0.03 kill_rate=0.06 name=s2
// kernelcast: global=(w, h) local=(32, 1) w=128 h=16 log_w=7 a=w*h b=w*h next_a=w*h next_b=w*h feed=0.055 kill_rate=0.062 name=s3
// kernelcast: global=(w, h) local=(64, 2) w=512 h=512 log_w=9 a=w*h b=w*h next_a=w*h next_b=w*h feed=0.055 kill_rate=0.062 name=measure
__kernel void reaction_step(__global const float *restrict a,
                            __global const float *restrict b,
                            __global float *restrict next_a,
                            __global float *restrict next_b,
                            const int log_w,
                            const float feed,
                            const float kill_rate)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int mask_x = get_global_size(0) - 1, mask_y = get_global_size(1) - 1;
    const int row = y << log_w;
    const int north = ((y - 1) & mask_y) << log_w, south = ((y + 1) & mask_y) << log_w;
    const int west = (x - 1) & mask_x, east = (x + 1) & mask_x;

    const float ca = a[row | x], cb = b[row | x];
    const float around_a = a[row | west] + a[row | east] + a[north | x] + a[south | x] - 4.0f * ca;
    const float around_b = b[row | west] + b[row | east] + b[north | x] + b[south | x] - 4.0f * cb;
    const float eaten = ca * cb * cb;
    next_a[row | x] = ca + 0.16f * around_a - eaten + feed * (1.0f - ca);
    next_b[row | x] = cb + 0.08f * around_b + eaten - (kill_rate + feed) * cb;
}
