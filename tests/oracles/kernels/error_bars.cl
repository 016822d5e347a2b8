/* Chances under the bell curve and quantiles of skewed data: erf, cbrt, exp and log of doubles. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// kernelcast: global=ceil_div(n,32)*32 local=32 n=300 value=n chance=n mean=1 deviation=0.25 name=s1
// kernelcast: global=ceil_div(n,16)*16 local=16 n=17 value=n chance=n mean=0.8 deviation=0.5 name=s2
// kernelcast: global=1024 local=128 n=1001 value=n chance=n mean=1.2 deviation=0.1 name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=60000 value=n chance=n mean=1 deviation=0.25 name=measure
__kernel void error_bars(__global const double *restrict value,
                         __global double *restrict chance,
                         const int n,
                         const double mean,
                         const double deviation)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const double z = (cbrt(log(value[i]) + 2.0) - mean) / deviation;
    chance[i] = 0.5 * (1.0 + erf(z * M_SQRT1_2)) - exp(-0.5 * z * z) * 0.3989422804014327;
}
