/* Euclidean length of each row of a sparse matrix in compressed rows, and the row divided by it. */

// kernelcast: global=ceil_div(rows,32)*32 local=32 rows=100 nnz=1000 starts=rows+1 values=nnz norms=rows fill.starts=csr_rows:nnz name=s1
// kernelcast: global=ceil_div(rows,16)*16 local=16 rows=500 nnz=2500 starts=rows+1 values=nnz norms=rows fill.starts=csr_rows:nnz name=s2
// kernelcast: global=64 local=64 rows=33 nnz=4000 starts=rows+1 values=nnz norms=rows fill.starts=csr_rows:nnz name=s3
// kernelcast: global=ceil_div(rows,32)*32 local=32 rows=40000 nnz=800000 starts=rows+1 values=nnz norms=rows fill.starts=csr_rows:nnz name=measure
__kernel void sparse_row_norms(__global const int *restrict starts,
                               __global float *restrict values,
                               __global float *restrict norms,
                               const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;

    const int end = starts[row + 1];
    float squares = 0.0f;
    for (int k = starts[row]; k < end; ++k)
        squares += values[k] * values[k];

    const float norm = sqrt(squares);
    const float scale = norm > 0.0f ? 1.0f / norm : 0.0f;
    for (int k = starts[row]; k < end; ++k)
        values[k] *= scale;
    norms[row] = norm;
}
