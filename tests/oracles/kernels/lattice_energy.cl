/* Potential energy of ions on a lattice: each against all others at lower indices, a triangle of pairs. */

// kernelcast: global=ceil_div(ions,16)*16 local=16 ions=60 sites=ions energy=ions softening=0.01 fill.sites=uniform:-3:3 name=s1
// kernelcast: global=ceil_div(ions,32)*32 local=32 ions=200 sites=ions energy=ions softening=0.1 fill.sites=uniform:-3:3 name=s2
// kernelcast: global=ceil_div(ions,8)*8 local=8 ions=131 sites=ions energy=ions softening=0.01 fill.sites=uniform:-3:3 name=s3
// kernelcast: global=ceil_div(ions,64)*64 local=64 ions=2500 sites=ions energy=ions softening=0.01 fill.sites=uniform:-3:3 name=measure
__kernel void lattice_energy(__global const float4 *restrict sites,
                             __global float *restrict energy,
                             const int ions,
                             const float softening)
{
    const int i = get_global_id(0);
    if (i >= ions)
        return;
    const float4 mine = sites[i]; /* w: charge */
    float sum = 0.0f;
    for (int j = 0; j < i; ++j) {
        const float4 other = sites[j];
        const float3 d = mine.xyz - other.xyz;
        sum += other.w * rsqrt(dot(d, d) + softening);
    }
    energy[i] = mine.w * sum;
}
