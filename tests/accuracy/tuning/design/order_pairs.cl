// kernelcast: global=n/2/PER local=64 n=2097152 keys=n step=STEP run=STEP*4 STEP=64 -DPER=1 -DCHUNKED=0 tune.PER=1,2,4,8,16 tune.CHUNKED=0,1 tune.local=8,16,32,64,128,256,512
__kernel void order_pairs(__global int *keys, const int step, const int run)
{
    const int items = get_global_size(0);
    for (int j = 0; j < PER; ++j) {
        const int pair = CHUNKED ? get_global_id(0) * PER + j : j * items + get_global_id(0);
        const int low = (pair / step) * 2 * step + pair % step, high = low + step;
        const int one = keys[low], other = keys[high], is_down = (low / run) & 1;
        keys[low] = is_down ? max(one, other) : min(one, other);
        keys[high] = is_down ? min(one, other) : max(one, other);
    }
}
