/* One time step of a vibrating membrane that is clamped at its rim: u'' = c^2 laplace(u), with damping. */

// kernelcast: global=(W, H) local=(64, 1) W=256 H=256 before=W*H now=W*H next=W*H width=W height=H courant2=0.25 damping=0.001 name=small
// kernelcast: global=(W, H) local=(64, 1) W=2048 H=1536 before=W*H now=W*H next=W*H width=W height=H courant2=0.25 damping=0.001 name=large
__kernel void wave_membrane(__global const float *restrict before,
                            __global const float *restrict now,
                            __global float *restrict next,
                            const int width,
                            const int height,
                            const float courant2,
                            const float damping)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    const int at = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        next[at] = 0.0f;
        return;
    }
    const float laplace = now[at - 1] + now[at + 1] + now[at - width] + now[at + width] - 4.0f * now[at];
    next[at] = (2.0f - damping) * now[at] - (1.0f - damping) * before[at] + courant2 * laplace;
}
