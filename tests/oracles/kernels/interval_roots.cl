/* Where functions of a family cross zero, by bisection to a fixed depth and in double precision. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double curve(const double x, const double a)
{
    return x * x * x - a * x - 2.0;
}

// kernelcast: global=n local=16 n=64 a=n root=n depth=40 fill.a=uniform:0:5 name=s1
// kernelcast: global=n local=6 n=30 a=n root=n depth=52 fill.a=uniform:0:5 name=s2
// kernelcast: global=n local=64 n=448 a=n root=n depth=10 fill.a=uniform:0:5 name=s3
// kernelcast: global=n local=64 n=16384 a=n root=n depth=40 fill.a=uniform:0:5 name=measure
__kernel void interval_roots(__global const double *restrict a, __global double *restrict root, const int depth)
{
    const size_t i = get_global_id(0);
    double low = 0.0, high = 8.0;
    for (int step = 0; step < depth; ++step) {
        const double middle = 0.5 * (low + high);
        if (curve(middle, a[i]) > 0.0)
            high = middle;
        else
            low = middle;
    }
    root[i] = 0.5 * (low + high);
}
