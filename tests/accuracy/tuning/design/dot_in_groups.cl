// kernelcast: global=GROUPS*LOCAL local=LOCAL n=2097152 x=n y=n out=GROUPS -DLOCAL=64 -DGROUPS=256 -DWIDTH=1 -DSTRIDED=1 tune.LOCAL=16,32,64,128,256 tune.GROUPS=16,64,256 tune.WIDTH=1,2,4,8 tune.STRIDED=0,1 where WIDTH*GROUPS*LOCAL<=n/8
__kernel void dot_in_groups(__global const float *x, __global const float *y, __global float *out, const int n)
{
    __local float parts[LOCAL];
    const int items = n / (GROUPS * LOCAL), at = get_global_id(0), mine = get_local_id(0);
    float sum = 0.0f;
#if WIDTH > 1
    for (int j = 0; j < items; j += WIDTH) {
        const int place = STRIDED ? j * GROUPS * LOCAL + at * WIDTH : at * items + j;
        for (int k = 0; k < WIDTH; ++k)
            sum += x[place + k] * y[place + k];
    }
#else
    for (int j = 0; j < items; ++j) {
        const int place = STRIDED ? j * GROUPS * LOCAL + at : at * items + j;
        sum += x[place] * y[place];
    }
#endif
    parts[mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = LOCAL / 2; step > 0; step /= 2) {
        if (mine < step)
            parts[mine] += parts[mine + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine == 0)
        out[get_group_id(0)] = parts[0];
}
