// kernelcast: global=rows*LOCAL local=LOCAL rows=512 columns=2048 in=rows*columns out=rows*columns -DLOCAL=64 -DWAY=0 tune.LOCAL=1,4,8,16,32,64,128,256 tune.WAY=0,1 tune.ROUNDS=1,2,4,8 -DROUNDS=1 where LOCAL*ROUNDS<=1024
__kernel void sums_so_far(__global const int *in, __global int *out, const int columns)
{
    __local int ends[LOCAL];
    const int mine = get_local_id(0), share = columns / (LOCAL * ROUNDS);
    int carried = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const int begin = get_group_id(0) * columns + round * share * LOCAL + mine * share;
        int sum = 0;
        for (int k = 0; k < share; ++k)
            sum += in[begin + k] & 15;
        ends[mine] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = carried, all = 0;
#if WAY == 0
        for (int j = 0; j < LOCAL; ++j) {
            all += ends[j];
            before += j < mine ? ends[j] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        for (int step = 1; step < LOCAL; step *= 2) {
            const int left = mine >= step ? ends[mine - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            ends[mine] += left;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        before += ends[mine] - sum;
        all = ends[LOCAL - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int k = 0; k < share; ++k)
            out[begin + k] = before += in[begin + k] & 15;
        carried += all;
    }
}
