/* Ratios of spectral bands of satellite pictures: normalised differences from planes of unsigned shorts, four at once. */

// kernelcast: global=ceil_div(quads,32)*32 local=32 quads=300 red=quads*4 infrared=quads*4 index=quads*4 fill.red=randint:1:4096 fill.infrared=randint:1:4096 name=s1
// kernelcast: global=ceil_div(quads,64)*64 local=64 quads=65 red=quads*4 infrared=quads*4 index=quads*4 fill.red=randint:1:4096 fill.infrared=randint:1:4096 name=s2
// kernelcast: global=1024 local=4 quads=1023 red=quads*4 infrared=quads*4 index=quads*4 fill.red=randint:1:4096 fill.infrared=randint:1:4096 name=s3
// kernelcast: global=ceil_div(quads,64)*64 local=64 quads=250000 red=quads*4 infrared=quads*4 index=quads*4 fill.red=randint:1:4096 fill.infrared=randint:1:4096 name=measure
__kernel void spectra_ratio(__global const ushort *restrict red,
                            __global const ushort *restrict infrared,
                            __global char *restrict index,
                            const int quads)
{
    const int i = get_global_id(0);
    if (i >= quads)
        return;
    const float4 r = convert_float4(vload4(i, red));
    const float4 n = convert_float4(vload4(i, infrared));
    vstore4(convert_char4_sat_rtz(127.0f * (n - r) / (n + r)), i, index);
}
