/* Calibration of a sensor with leftovers: values that nobody reads, branches never taken, constants to be folded. */

#define DEBUG 0
#define GAIN (3.3f / 4095.0f)
#define OFFSET (0.5f * 3.3f)

// kernelcast: global=ceil_div(n,64)*64 local=64 n=1000 raw=n volts=n n_channels=4 name=s1
// kernelcast: global=ceil_div(n,32)*32 local=32 n=77 raw=n volts=n n_channels=3 name=s2
// kernelcast: global=2560 local=256 n=2400 raw=n volts=n n_channels=8 name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=1000000 raw=n volts=n n_channels=4 name=measure
__kernel void dead_ends(__global const ushort *restrict raw, __global float *restrict volts, const uint n, const uint n_channels)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint channel = i % n_channels;
    const float v = raw[i] * GAIN - OFFSET;
    float checksum = 0.0f; /* was printed once */
    for (int k = 0; k < 10; ++k)
        checksum += v * k;
    const float log_v = log(fabs(v) + 1.0f);
    if (DEBUG)
        volts[i] = checksum + log_v;
    else
        volts[i] = v * (1.0f + 0.01f * channel) * (2.0f * M_PI_F / 360.0f);
}
