/* How gears of a clock stand after some time: remainders of floats, exponents taken apart and put together. */

// kernelcast: global=n local=32 n=320 period=n phase=n time_s=86400 name=s1
// kernelcast: global=n local=64 n=64 period=n phase=n time_s=3600.5 name=s2
// kernelcast: global=n local=9 n=999 period=n phase=n time_s=7 name=s3
// kernelcast: global=n local=64 n=131072 period=n phase=n time_s=1000 name=measure
__kernel void gear_phases(__global const float *restrict period, __global float2 *restrict phase, const float time_s)
{
    const size_t i = get_global_id(0);
    const float turned = fmod(time_s, period[i]);
    int exponent;
    const float mantissa = frexp(period[i], &exponent);
    phase[i] = (float2)(turned / period[i], ldexp(trunc(mantissa * 256.0f), exponent - 8));
}
