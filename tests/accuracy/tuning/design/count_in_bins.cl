// kernelcast: global=n/PER local=LOCAL n=1048576 in=n fill.in=randint:0:BINS counts=BINS BINS=64 -DPER=4 -DLOCAL=64 -DPRIVATE=1 -DSTRIDED=1 -DBINS=64 tune.PER=1,4,16,64,256 tune.LOCAL=16,32,64,128,256 tune.PRIVATE=0,1 tune.STRIDED=0,1 where PER*LOCAL<=16384
__kernel void count_in_bins(__global const int *in, __global int *counts)
{
    const int at = get_global_id(0), mine = get_local_id(0), items = get_global_size(0);
#if PRIVATE
    __local int own[BINS];
    for (int j = mine; j < BINS; j += LOCAL)
        own[j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int j = 0; j < PER; ++j) {
        const int bin = in[STRIDED ? j * items + at : at * PER + j] & (BINS - 1);
#if PRIVATE
        atomic_inc(&own[bin]);
#else
        atomic_inc(&counts[bin]);
#endif
    }
#if PRIVATE
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = mine; j < BINS; j += LOCAL)
        if (own[j])
            atomic_add(&counts[j], own[j]);
#endif
}
