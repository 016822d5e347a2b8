/* Loudest sample of a recording and where it stands: each work-group strides over the samples, then folds in local
 * memory. The host folds the few results of the groups. */

typedef struct {
    float level;
    uint position;
} peak_t;

inline peak_t louder(const peak_t a, const peak_t b)
{
    /* On a tie the earlier one, so that the answer does not depend on the number of groups. */
    if (a.level != b.level)
        return a.level > b.level ? a : b;
    return a.position < b.position ? a : b;
}

// kernelcast: global=groups*256 local=256 groups=32 count=4194304 samples=count peaks=groups best=256*8
__kernel void signal_peak(__global const float *restrict samples,
                          __global peak_t *restrict peaks,
                          __local peak_t *best,
                          const uint count)
{
    const uint lid = get_local_id(0);
    peak_t mine = {-1.0f, 0u};
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const peak_t sample = {fabs(samples[i]), i};
        mine = louder(mine, sample);
    }
    best[lid] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
        if (lid < reach)
            best[lid] = louder(best[lid], best[lid + reach]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        peaks[get_group_id(0)] = best[0];
}
