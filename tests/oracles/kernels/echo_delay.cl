/* An echo for stereo sound: what was heard some samples ago, softer, and crossed over between left and right. */

// kernelcast: global=ceil_div(frames,64)*64 local=64 frames=1500 dry=frames wet=frames delay=441 feedback=0.4 crossing=0.2 name=s1
// kernelcast: global=ceil_div(frames,128)*128 local=128 frames=1000 dry=frames wet=frames delay=100 feedback=0.6 crossing=0.5 name=s2
// kernelcast: global=4096 local=32 frames=4001 dry=frames wet=frames delay=3000 feedback=0.3 crossing=0 name=s3
// kernelcast: global=ceil_div(frames,128)*128 local=128 frames=1000000 dry=frames wet=frames delay=22050 feedback=0.4 crossing=0.2 name=measure
__kernel void echo_delay(__global const float2 *restrict dry,
                         __global float2 *restrict wet,
                         const int frames,
                         const int delay,
                         const float feedback,
                         const float crossing)
{
    const int t = get_global_id(0);
    if (t >= frames)
        return;
    float2 out = dry[t];
    if (t >= delay) {
        const float2 past = dry[t - delay];
        out += feedback * ((1.0f - crossing) * past + crossing * past.yx);
    }
    wet[t] = out;
}
