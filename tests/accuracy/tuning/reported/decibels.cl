// kernelcast: global=n/PER local=64 n=262144 x=n y=n -DPER=1 -DSTRIDED=1 -DLOG=log -DBRANCH=1 tune.PER=1,2,4,8 tune.STRIDED=0,1 tune.LOG=log,native_log,half_log tune.BRANCH=0,1 tune.local=16,64,256 where PER>=1
__kernel void decibels(__global const float *x, __global float *y)
{
    const int items = get_global_size(0);
    for (int j = 0; j < PER; ++j) {
        const int at = STRIDED ? j * items + get_global_id(0) : get_global_id(0) * PER + j;
        const float value = fabs(x[at]) + 1.0f;
#if BRANCH
        if (value > 1.05f)
            y[at] = 8.685889638f * LOG(value);
        else
            y[at] = 0.0f;
#else
        y[at] = value > 1.05f ? 8.685889638f * LOG(value) : 0.0f;
#endif
    }
}
