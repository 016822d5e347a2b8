/* Angles between chemical bonds, in degrees: an atom in the middle and two neighbours, looked up in a list. */

// kernelcast: global=ceil_div(angles,64)*64 local=64 angles=500 atoms=300 where=atoms triples=angles degrees_out=angles fill.triples=randint:0:atoms fill.where=uniform:-5:5 name=s1
// kernelcast: global=ceil_div(angles,32)*32 local=32 angles=1111 atoms=100 where=atoms triples=angles degrees_out=angles fill.triples=randint:0:atoms fill.where=uniform:-5:5 name=s2
// kernelcast: global=4096 local=256 angles=4000 atoms=5000 where=atoms triples=angles degrees_out=angles fill.triples=randint:0:atoms fill.where=uniform:-5:5 name=s3
// kernelcast: global=ceil_div(angles,64)*64 local=64 angles=300000 atoms=100000 where=atoms triples=angles degrees_out=angles fill.triples=randint:0:atoms fill.where=uniform:-5:5 name=measure
__kernel void bond_angles(__global const float4 *restrict where,
                          __global const int4 *restrict triples,
                          __global float *restrict degrees_out,
                          const int angles)
{
    const int i = get_global_id(0);
    if (i < angles) {
        const int4 t = triples[i];
        const float3 centre = where[t.y].xyz;
        const float3 a = where[t.x].xyz - centre;
        const float3 b = where[t.z].xyz - centre;
        const float cosine = dot(a, b) * rsqrt(dot(a, a) * dot(b, b) + 1e-12f);
        degrees_out[i] = degrees(acos(clamp(cosine, -1.0f, 1.0f)));
    }
}
