/* Display gamma: linear light to code values, with a straight piece near black. */

// kernelcast: global=count local=256 count=524288 linear=count encoded=count exponent=0.4545 fill.linear=uniform:0:1
__kernel void gamma_curve(__global const float *restrict linear,
                          __global uchar *restrict encoded,
                          const float exponent,
                          const uint count)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;

    const float light = clamp(linear[i], 0.0f, 1.0f);
    const float code = light < 0.018f ? 4.5f * light : 1.099f * powr(light, exponent) - 0.099f;
    encoded[i] = convert_uchar_sat_rte(255.0f * code);
}
