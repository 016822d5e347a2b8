// kernelcast: global=n/PER local=LOCAL n=1048576 in=n out=n -DPER=4 -DLOCAL=64 -DWAY=0 tune.PER=1,2,4,8,16 tune.LOCAL=16,32,64,128,256 tune.WAY=0,1
__kernel void running_sums(__global const float *in, __global float *out)
{
    __local float ends[2][LOCAL];
    const int mine = get_local_id(0), first = get_global_id(0) * PER;
    float own[PER], sum = 0.0f;
    for (int j = 0; j < PER; ++j)
        own[j] = sum += in[first + j];
    ends[0][mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    int side = 0;
#if WAY == 0
    for (int step = 1; step < LOCAL; step *= 2) {
        ends[1 - side][mine] = ends[side][mine] + (mine >= step ? ends[side][mine - step] : 0.0f);
        side = 1 - side;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    if (mine == 0)
        for (int j = 1; j < LOCAL; ++j)
            ends[0][j] += ends[0][j - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    const float before = mine > 0 ? ends[side][mine - 1] : 0.0f;
    for (int j = 0; j < PER; ++j)
        out[first + j] = before + own[j];
}
