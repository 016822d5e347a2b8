/* Grades a picture through a small colour cube in constant memory, with trilinear interpolation. */

#define EDGE 5
#define CUBE(r, g, b) cube[((b) * EDGE + (g)) * EDGE + (r)]

// kernelcast: global=ceil_div(n,32)*32 local=32 n=200 in=n out=n cube=125 fill.in=uniform:0:1 name=s1
// kernelcast: global=ceil_div(n,64)*64 local=64 n=900 in=n out=n cube=125 fill.in=uniform:0:1 name=s2
// kernelcast: global=512 local=8 n=401 in=n out=n cube=125 fill.in=uniform:0:1 name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=150000 in=n out=n cube=125 fill.in=uniform:0:1 name=measure
__kernel void lookup_blend(__global const float4 *restrict in,
                           __global float4 *restrict out,
                           __constant float4 *cube,
                           const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const float3 at = clamp(in[i].xyz, 0.0f, 1.0f) * (float)(EDGE - 1);
    const int3 base = min(convert_int3_rtz(at), (int3)(EDGE - 2));
    const float3 t = at - convert_float3(base);

    const float4 low = mix(mix(CUBE(base.x, base.y, base.z), CUBE(base.x + 1, base.y, base.z), t.x),
                           mix(CUBE(base.x, base.y + 1, base.z), CUBE(base.x + 1, base.y + 1, base.z), t.x), t.y);
    const float4 high = mix(mix(CUBE(base.x, base.y, base.z + 1), CUBE(base.x + 1, base.y, base.z + 1), t.x),
                            mix(CUBE(base.x, base.y + 1, base.z + 1), CUBE(base.x + 1, base.y + 1, base.z + 1), t.x),
                            t.y);
    float4 graded = mix(low, high, t.z);
    graded.w = in[i].w;
    out[i] = graded;
}
