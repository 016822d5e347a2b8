// kernelcast: global=n/PER local=LOCAL n=2097152 in=n counts=256 -DPER=16 -DLOCAL=64 -DCOPIES=1 tune.PER=16,64,256,1024 tune.LOCAL=8,16,32,64,128,256 tune.COPIES=1,2,4,8 where LOCAL>=COPIES and PER*LOCAL<=65536
__kernel void count_bytes(__global const uchar *in, __global uint *counts)
{
    __local uint own[COPIES * 256];
    const int mine = get_local_id(0), copy = mine % COPIES, begin = get_global_id(0) * PER;
    for (int j = mine; j < COPIES * 256; j += LOCAL)
        own[j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < PER; ++j)
        atomic_inc(&own[in[begin + j] * COPIES + copy]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = mine; j < 256; j += LOCAL) {
        uint sum = 0;
        for (int k = 0; k < COPIES; ++k)
            sum += own[j * COPIES + k];
        atomic_add(&counts[j], sum);
    }
}
