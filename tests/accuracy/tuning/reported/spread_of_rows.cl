// kernelcast: global=rows*LOCAL local=LOCAL rows=2048 columns=512 in=rows*columns out=rows -DLOCAL=32 -DPASSES=2 -DUNROLL=1 -DCHUNK=1 tune.LOCAL=1,2,4,8,16,32,64,128 tune.PASSES=1,2 tune.UNROLL=1,4 tune.CHUNK=1,4 where LOCAL*CHUNK<=512
__kernel void spread_of_rows(__global const float *in, __global float *out, const int columns)
{
    __local float first[LOCAL], second[LOCAL];
    const int mine = get_local_id(0);
    __global const float *row = in + get_group_id(0) * columns;
    float sum = 0.0f, squares = 0.0f;
    #pragma unroll UNROLL
    for (int k = mine * CHUNK; k < columns; k += LOCAL * CHUNK)
        for (int i = 0; i < CHUNK; ++i) {
            sum += row[k + i];
#if PASSES == 1
            squares += row[k + i] * row[k + i];
#endif
        }
    first[mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    float mean = 0.0f;
    for (int j = 0; j < LOCAL; ++j)
        mean += first[j];
    mean /= columns;
#if PASSES == 2
    for (int k = mine * CHUNK; k < columns; k += LOCAL * CHUNK)
        for (int i = 0; i < CHUNK; ++i)
            squares += (row[k + i] - mean) * (row[k + i] - mean);
#endif
    second[mine] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine == 0) {
        for (int j = 1; j < LOCAL; ++j)
            squares += second[j];
        out[get_group_id(0)] = PASSES == 2 ? squares / columns : squares / columns - mean * mean;
    }
}
