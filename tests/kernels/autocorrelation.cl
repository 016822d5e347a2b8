/* Autocorrelation of a signal, one lag to a work-item: the longer the lag, the fewer products there are. */

// kernelcast: global=n local=32 n=4096 signal=n correlation=n fill.signal=uniform:-1:1
__kernel void autocorrelation(__global const float *restrict signal,
                              __global float *restrict correlation,
                              const int n)
{
    const int lag = get_global_id(0);
    float sum = 0.0f;
    for (int i = 0; i < n - lag; ++i)
        sum += signal[i] * signal[i + lag];
    correlation[lag] = sum / n;
}
