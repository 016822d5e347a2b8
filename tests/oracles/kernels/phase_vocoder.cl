/* Magnitude and phase advance of spectrum bins between two frames: hypot, atan2 and wrapping to (-pi, pi]. */

// kernelcast: global=ceil_div(bins,32)*32 local=32 bins=513 now=bins before=bins polar=bins hop=256 rate_hz=44100 fill.now=uniform:-1:1 fill.before=uniform:-1:1 name=s1
// kernelcast: global=ceil_div(bins,64)*64 local=64 bins=1025 now=bins before=bins polar=bins hop=512 rate_hz=48000 fill.now=uniform:-1:1 fill.before=uniform:-1:1 name=s2
// kernelcast: global=128 local=16 bins=100 now=bins before=bins polar=bins hop=64 rate_hz=8000 fill.now=uniform:-1:1 fill.before=uniform:-1:1 name=s3
// kernelcast: global=ceil_div(bins,64)*64 local=64 bins=60000 now=bins before=bins polar=bins hop=256 rate_hz=44100 fill.now=uniform:-1:1 fill.before=uniform:-1:1 name=measure
__kernel void phase_vocoder(__global const float2 *restrict now,
                            __global const float2 *restrict before,
                            __global float2 *restrict polar,
                            const int bins,
                            const float hop,
                            const float rate_hz)
{
    const int bin = get_global_id(0);
    if (bin >= bins)
        return;
    const float2 a = now[bin], b = before[bin];
    const float expected = 2.0f * M_PI_F * hop * bin / (2 * (bins - 1));
    float advance = atan2(a.y, a.x) - atan2(b.y, b.x) - expected;
    advance -= 2.0f * M_PI_F * rint(advance / (2.0f * M_PI_F));
    polar[bin] = (float2)(hypot(a.x, a.y), (expected + advance) * rate_hz / (2.0f * M_PI_F * hop));
}
