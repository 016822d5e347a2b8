/* Halves a signal's sample rate: low-pass, then every other sample, in a grid-stride loop. */

#include "include/taps.h"

// kernelcast: global=65536 local=128 count=1048576 signal=count halved=count//2
__kernel void decimate(__global const float *restrict signal,
                       __global float *restrict halved,
                       const int count)
{
    for (int out = get_global_id(0); out < count / 2; out += get_global_size(0)) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = 0; tap < TAP_COUNT; ++tap)
            sum += taps[tap] * SAMPLE_OR_ZERO(signal, 2 * out + tap - TAP_COUNT / 2, count);
        halved[out] = sum;
    }
}
