/* Flattens the outlines of glyphs: each cubic curve becomes a fixed number of points by forward evaluation. */

#ifndef POINTS
#define POINTS 8
#endif

// kernelcast: global=curves local=16 curves=48 controls=curves*4 outline=curves*8 -DPOINTS=8 name=s1
// kernelcast: global=curves local=9 curves=99 controls=curves*4 outline=curves*16 -DPOINTS=16 name=s2
// kernelcast: global=curves local=32 curves=256 controls=curves*4 outline=curves*3 -DPOINTS=3 name=s3
// kernelcast: global=curves local=64 curves=65536 controls=curves*4 outline=curves*8 -DPOINTS=8 name=measure
__kernel void bezier_outline(__global const float2 *restrict controls, __global float2 *restrict outline)
{
    const size_t curve = get_global_id(0);
    const float2 p0 = controls[4 * curve], p1 = controls[4 * curve + 1];
    const float2 p2 = controls[4 * curve + 2], p3 = controls[4 * curve + 3];
    for (int k = 0; k < POINTS; ++k) {
        const float t = (float)k / (POINTS - 1);
        const float s = 1.0f - t;
        outline[curve * POINTS + k] = s * s * s * p0 + 3.0f * s * s * t * p1 + 3.0f * s * t * t * p2 + t * t * t * p3;
    }
}
