// kernelcast: global=n/PER local=64 n=262144 in=n+TAPS weights=TAPS out=n TAPS=32 -DPER=1 -DUNROLL=1 -DLOCALLY=0 -DGROUP=64 tune.PER=1,2,4,8 tune.UNROLL=1,4,16 tune.LOCALLY=0,1 tune.GROUP=16,64,256 tune.local=16,64,256 where GROUP==local
__kernel void filter_taps(__global const float *in, __constant float *weights, __global float *out, const int TAPS)
{
    const int first = get_global_id(0) * PER, mine = get_local_id(0);
#if LOCALLY
    __local float near[GROUP * PER + 64];
    const int begin = get_group_id(0) * GROUP * PER;
    for (int j = mine; j < GROUP * PER + TAPS - 1; j += GROUP)
        near[j] = in[begin + j];
    barrier(CLK_LOCAL_MEM_FENCE);
#define IN(place) near[(place) - begin]
#else
#define IN(place) in[place]
#endif
    float sums[PER];
    for (int j = 0; j < PER; ++j)
        sums[j] = 0.0f;
    #pragma unroll UNROLL
    for (int k = 0; k < TAPS; ++k)
        for (int j = 0; j < PER; ++j)
            sums[j] += weights[k] * IN(first + j + k);
    for (int j = 0; j < PER; ++j)
        out[first + j] = sums[j];
}
