/* Square of a small upper triangular matrix in one work-group's local memory; nothing below the diagonal is touched. */

#ifndef ORDER
#define ORDER 16
#endif

// kernelcast: global=(16*count, 16) local=(16, 16) count=2 in=count*256 out=count*256 -DORDER=16 name=s1
// kernelcast: global=(8*count, 8) local=(8, 8) count=6 in=count*64 out=count*64 -DORDER=8 name=s2
// kernelcast: global=(12*count, 12) local=(12, 12) count=1 in=count*144 out=count*144 -DORDER=12 name=s3
// kernelcast: global=(16*count, 16) local=(16, 16) count=1024 in=count*256 out=count*256 -DORDER=16 name=measure
__kernel void elbow_product(__global const float *restrict in, __global float *restrict out)
{
    __local float m[ORDER][ORDER];
    const int column = get_local_id(0), row = get_local_id(1);
    const size_t at = get_group_id(0) * ORDER * ORDER + row * ORDER + column;
    m[row][column] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);

    float sum = 0.0f;
    for (int k = row; k <= column; ++k)
        sum = mad(m[row][k], m[k][column], sum);
    out[at] = sum;
}
