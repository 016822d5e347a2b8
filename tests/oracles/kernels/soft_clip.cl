/* Valve-like distortion: hyperbolic tangents on four samples at a time, then a slow gate with a threshold. */

// kernelcast: global=n local=32 n=320 samples=n*4 drive=3 threshold=0.1 fill.samples=uniform:-1:1 name=s1
// kernelcast: global=n local=25 n=500 samples=n*4 drive=8 threshold=0.2 fill.samples=uniform:-1:1 name=s2
// kernelcast: global=n local=64 n=64 samples=n*4 drive=1 threshold=0 fill.samples=uniform:-1:1 name=s3
// kernelcast: global=n local=64 n=65536 samples=n*4 drive=3 threshold=0.1 fill.samples=uniform:-1:1 name=measure
__kernel void soft_clip(__global float *samples, const float drive, const float threshold)
{
    const size_t i = get_global_id(0);
    const float4 dry = vload4(i, samples);
    const float4 hot = tanh(drive * dry);
    const float4 gated = select(hot, (float4)(0.0f), fabs(dry) < threshold);
    vstore4(gated / tanh(drive), i, samples);
}
