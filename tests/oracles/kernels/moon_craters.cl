/* Depth of craters on a moon: the deepest profile wins at each point; craters are sorted by size, so small ones end it. */

// kernelcast: global=(w, h) local=(8, 8) w=24 h=24 craters=10 crater=craters relief=w*h smallest=0.0 fill.crater=uniform:2:20 name=s1
// kernelcast: global=(w, h) local=(4, 4) w=20 h=40 craters=6 crater=craters relief=w*h smallest=0.0 fill.crater=uniform:2:20 name=s2
// kernelcast: global=(w, h) local=(16, 1) w=32 h=16 craters=30 crater=craters relief=w*h smallest=100.0 fill.crater=uniform:2:20 name=s3
// kernelcast: global=(w, h) local=(16, 8) w=128 h=128 craters=40 crater=craters relief=w*h smallest=0.0 fill.crater=uniform:2:100 name=measure
__kernel void moon_craters(__global const float3 *restrict crater,
                           __global float *restrict relief,
                           const int craters,
                           const float smallest)
{
    const float2 at = (float2)(get_global_id(0), get_global_id(1));
    float depth = 0.0f;
    for (int k = 0; k < craters; ++k) {
        const float3 c = crater[k]; /* x, y, radius */
        if (c.z < smallest)
            break;
        const float r = fast_distance(at, c.xy) / c.z;
        const float rim = exp(-8.0f * (r - 1.0f) * (r - 1.0f));
        depth = fmin(depth, 0.3f * rim - 1.0f + smoothstep(0.4f, 1.2f, r));
    }
    relief[get_global_id(1) * get_global_size(0) + get_global_id(0)] = depth;
}
