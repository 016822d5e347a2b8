/* Squared distances between all pairs of feature vectors, TILE x TILE pairs to a work-group. */

#ifndef TILE
#define TILE 16
#endif

// kernelcast: global=(N, M) N=512 M=512 depth=64 probes=N*depth gallery=M*depth distances=N*M probe_count=N
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void pair_distance(__global const float *restrict probes,
                   __global const float *restrict gallery,
                   __global float *restrict distances,
                   const int probe_count,
                   const int depth)
{
    __local float probe_tile[TILE][TILE + 1]; /* one column more, so that columns fall into different banks */
    __local float gallery_tile[TILE][TILE + 1];

    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int first_probe = get_group_id(0) * TILE;
    const int first_gallery = get_group_id(1) * TILE;

    float sum = 0.0f;
    for (int block = 0; block < depth; block += TILE) {
        probe_tile[ly][lx] = probes[(first_probe + ly) * depth + block + lx];
        gallery_tile[ly][lx] = gallery[(first_gallery + ly) * depth + block + lx];
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < TILE; ++k) {
            const float apart = probe_tile[lx][k] - gallery_tile[ly][k];
            sum = fma(apart, apart, sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    distances[(first_gallery + ly) * probe_count + first_probe + lx] = sum;
}
