// kernelcast: global=GROUPS*LOCAL local=LOCAL n=4194304 in=n out=GROUPS -DLOCAL=64 -DGROUPS=64 -DTREE=1 -DSTRIDED=1 tune.LOCAL=8,16,32,64,128,256 tune.GROUPS=4,16,64,256,1024 tune.TREE=0,1 tune.STRIDED=0,1
__kernel void highest_in_groups(__global const float *in, __global float *out, const int n)
{
    __local float parts[LOCAL];
    const int items = n / (GROUPS * LOCAL), mine = get_local_id(0), all = GROUPS * LOCAL;
    float highest = -INFINITY;
    for (int j = 0; j < items; ++j)
        highest = fmax(highest, in[STRIDED ? j * all + get_global_id(0) : get_global_id(0) * items + j]);
    parts[mine] = highest;
    barrier(CLK_LOCAL_MEM_FENCE);
#if TREE
    for (int step = LOCAL / 2; step > 0; step /= 2) {
        if (mine < step)
            parts[mine] = fmax(parts[mine], parts[mine + step]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    if (mine == 0)
        for (int j = 1; j < LOCAL; ++j)
            parts[0] = fmax(parts[0], parts[j]);
#endif
    if (mine == 0)
        out[get_group_id(0)] = parts[0];
}
