/* Removes spikes from a sensor's trace: a sample far from the median of its neighbourhood is replaced by that. */

#define REACH 4
#define WINDOW (2 * REACH + 1)

// kernelcast: global=n local=128 n=262144 trace=n clean=n tolerance=0.25
__kernel void despike(__global const float *restrict trace,
                      __global float *restrict clean,
                      const int n,
                      const float tolerance)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;

    float window[WINDOW];
    for (int k = 0; k < WINDOW; ++k) {
        const float sample = trace[clamp(i + k - REACH, 0, n - 1)];
        int slot = k;
        for (; slot > 0 && window[slot - 1] > sample; --slot)
            window[slot] = window[slot - 1];
        window[slot] = sample;
    }
    const float median = window[REACH];
    clean[i] = fabs(trace[i] - median) > tolerance ? median : trace[i];
}
