/* Brings every k-th record together: reads far apart, writes side by side, in a grid-stride loop. */

// kernelcast: global=256 local=64 kept=900 step=7 records=kept*step picked=kept name=s1
// kernelcast: global=128 local=32 kept=1000 step=16 records=kept*step picked=kept name=s2
// kernelcast: global=96 local=8 kept=333 step=3 records=kept*step picked=kept name=s3
// kernelcast: global=16384 local=128 kept=400000 step=7 records=kept*step picked=kept name=measure
__kernel void stride_gather(__global const int *restrict records,
                            __global int *restrict picked,
                            const uint kept,
                            const uint step)
{
    const uint stride = get_global_size(0);
    for (uint i = get_global_id(0); i < kept; i += stride)
        picked[i] = records[i * step];
}
