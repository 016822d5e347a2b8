/* Adds the outer product of two vectors to a matrix, four columns to a work-item. */

// kernelcast: global=(quads, m) local=(8, 4) quads=16 m=20 matrix=quads*m left=m right=quads alpha=0.5 name=s1
// kernelcast: global=(quads, m) local=(4, 4) quads=4 m=128 matrix=quads*m left=m right=quads alpha=-2 name=s2
// kernelcast: global=(quads, m) local=(50, 1) quads=100 m=11 matrix=quads*m left=m right=quads alpha=0.125 name=s3
// kernelcast: global=(quads, m) local=(16, 4) quads=256 m=1000 matrix=quads*m left=m right=quads alpha=0.5 name=measure
__kernel void outer_update(__global float4 *restrict matrix,
                           __global const float *restrict left,
                           __global const float4 *restrict right,
                           const float alpha)
{
    const size_t column = get_global_id(0), row = get_global_id(1);
    const size_t at = row * get_global_size(0) + column;
    matrix[at] = fma((float4)(alpha * left[row]), right[column], matrix[at]);
}
