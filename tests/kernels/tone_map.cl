/* High dynamic range to displayable colours: the luminance is compressed, the hue is kept. */

// kernelcast: global=count local=128 count=524288 scene=count shown=count exposure=1.6 white=4 fill.scene=uniform:0:8
__kernel void tone_map(__global const float4 *restrict scene,
                       __global float4 *restrict shown,
                       const float exposure,
                       const float white)
{
    const size_t i = get_global_id(0);
    const float4 colour = exposure * scene[i];
    const float luminance = dot(colour.xyz, (float3)(0.2126f, 0.7152f, 0.0722f));
    const float mapped = luminance * (1.0f + luminance / (white * white)) / (1.0f + luminance);
    const float scale = mapped / fmax(luminance, 1e-6f);
    shown[i] = (float4)(clamp(colour.xyz * scale, 0.0f, 1.0f), scene[i].w);
}
