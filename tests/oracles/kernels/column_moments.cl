/* Mean, variance and skewness of each column of a table, in one pass that stays exact for long columns. */

// kernelcast: global=ceil_div(columns,32)*32 local=32 columns=75 rows=100 pitch=80 table=pitch*rows moments=columns name=s1
// kernelcast: global=ceil_div(columns,16)*16 local=16 columns=16 rows=500 pitch=16 table=pitch*rows moments=columns name=s2
// kernelcast: global=ceil_div(columns,64)*64 local=64 columns=300 rows=33 pitch=320 table=pitch*rows moments=columns name=s3
// kernelcast: global=ceil_div(columns,32)*32 local=32 columns=4000 rows=100 pitch=4000 table=pitch*rows moments=columns name=measure
__kernel void column_moments(__global const float *restrict table,
                             __global float4 *restrict moments,
                             const int columns,
                             const int rows,
                             const int pitch)
{
    const int column = get_global_id(0);
    if (column >= columns)
        return;

    float mean = 0.0f, second = 0.0f, third = 0.0f;
    for (int row = 0; row < rows; ++row) {
        const float n = row + 1;
        const float delta = table[row * pitch + column] - mean;
        const float step = delta / n;
        const float term = delta * step * row;
        mean += step;
        third += term * step * (n - 2.0f) - 3.0f * step * second;
        second += term;
    }
    const float variance = second / rows;
    moments[column] = (float4)(mean, variance, third / rows / (variance * sqrt(variance)), 0.0f);
}
