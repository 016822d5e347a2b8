/* Fades one picture into another and warms it up: bytes to floats and back, with saturation. */

// kernelcast: global=ceil_div(pixels,64)*64 local=64 pixels=1000 from=pixels to=pixels faded=pixels progress=0.3 warmth.x=1.1 warmth.y=1.0 warmth.z=0.9 warmth.w=1 fill.from=randint:0:256 fill.to=randint:0:256 name=s1
// kernelcast: global=ceil_div(pixels,128)*128 local=128 pixels=3333 from=pixels to=pixels faded=pixels progress=0.9 warmth.x=1 warmth.y=1 warmth.z=1 warmth.w=1 fill.from=randint:0:256 fill.to=randint:0:256 name=s2
// kernelcast: global=ceil_div(pixels,16)*16 local=16 pixels=77 from=pixels to=pixels faded=pixels progress=0.5 warmth.x=1.5 warmth.y=1.2 warmth.z=0.7 warmth.w=1 fill.from=randint:0:256 fill.to=randint:0:256 name=s3
// kernelcast: global=ceil_div(pixels,128)*128 local=128 pixels=1000000 from=pixels to=pixels faded=pixels progress=0.3 warmth.x=1.1 warmth.y=1.0 warmth.z=0.9 warmth.w=1 fill.from=randint:0:256 fill.to=randint:0:256 name=measure
__kernel void fade_pictures(__global const uchar4 *restrict from,
                            __global const uchar4 *restrict to,
                            __global uchar4 *restrict faded,
                            const int pixels,
                            const float progress,
                            const float4 warmth)
{
    const int i = get_global_id(0);
    if (i >= pixels)
        return;
    const float4 blended = mix(convert_float4(from[i]), convert_float4(to[i]), progress) * warmth;
    faded[i] = convert_uchar4_sat_rte(blended);
}
