/* Gradient magnitude of a CT volume by central differences: the edge measure of a volume renderer. */

#define VOXEL(column, row, slice) density[((slice) * height + (row)) * width + (column)]

// kernelcast: global=(N, N, N) local=(32, 2, 2) N=128 density=N*N*N edges=N*N*N width=N height=N depth=N spacing_mm=0.7
__kernel void volume_gradient(__global const short *restrict density,
                              __global float *restrict edges,
                              const int width,
                              const int height,
                              const int depth,
                              const float spacing_mm)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int z = get_global_id(2);
    if (x >= width || y >= height || z >= depth)
        return;

    /* At the faces of the volume the difference is one-sided. */
    const int left = max(x - 1, 0), right = min(x + 1, width - 1);
    const int above = max(y - 1, 0), below = min(y + 1, height - 1);
    const int front = max(z - 1, 0), back = min(z + 1, depth - 1);

    const float3 slope = (float3)(
        (float)(VOXEL(right, y, z) - VOXEL(left, y, z)) / (right - left),
        (float)(VOXEL(x, below, z) - VOXEL(x, above, z)) / (below - above),
        (float)(VOXEL(x, y, back) - VOXEL(x, y, front)) / (back - front));
    edges[(z * height + y) * width + x] = length(slope) / spacing_mm;
}
