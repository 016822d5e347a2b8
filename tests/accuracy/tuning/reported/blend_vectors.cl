// kernelcast: global=n/WIDE/PER local=64 n=4194304 a=n b=n out=n -DWIDE=1 -DPER=1 -DFMA=0 tune.WIDE=1,2,4,8 tune.PER=1,4 tune.FMA=0,1 tune.local=16,64,128,256
#if WIDE == 1
typedef float T;
#elif WIDE == 2
typedef float2 T;
#elif WIDE == 4
typedef float4 T;
#else
typedef float8 T;
#endif
__kernel void blend_vectors(__global const float *a, __global const float *b, __global float *out)
{
    for (int j = 0; j < PER; ++j) {
        const int at = j * get_global_size(0) + get_global_id(0);
        const T x = ((__global const T *)a)[at], y = ((__global const T *)b)[at];
        ((__global T *)out)[at] = FMA ? fma(x, (T)(0.25f), y) : x * (T)(0.25f) + y;
    }
}
