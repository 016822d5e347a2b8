// kernelcast: global=n/2 local=HALF n=131072 keys=n -DHALF=64 -DSWAP=0 -DUNROLL=1 tune.HALF=64,128 tune.SWAP=0,1,2 tune.UNROLL=1,2,4,8 tune.PAD=0,1 -DPAD=0
__kernel void order_each_128(__global int *keys)
{
    __local int own[128 + PAD * 8];
    const int mine = get_local_id(0), begin = get_group_id(0) * HALF * 2;
    for (int part = 0; part < 2 * HALF; part += 128) {
        for (int j = mine; j < 128; j += HALF)
            own[j] = keys[begin + part + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int run = 2; run <= 128; run *= 2)
            #pragma unroll UNROLL
            for (int step = run / 2; step > 0; step /= 2) {
                for (int pair = mine; pair < 64; pair += HALF) {
                    const int low = pair / step * 2 * step + pair % step, high = low + step;
                    const int one = own[low], other = own[high], is_down = (low & run) != 0 && run < 128;
#if SWAP == 0
                    if ((one > other) != is_down) {
                        own[low] = other;
                        own[high] = one;
                    }
#elif SWAP == 1
                    own[low] = is_down ? max(one, other) : min(one, other);
                    own[high] = is_down ? min(one, other) : max(one, other);
#else
                    own[low] = select(min(one, other), max(one, other), is_down);
                    own[high] = select(max(one, other), min(one, other), is_down);
#endif
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        for (int j = mine; j < 128; j += HALF)
            keys[begin + part + j] = own[j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
