// kernelcast: global=rows*LOCAL local=LOCAL rows=2048 columns=1024 in=rows*columns out=rows*columns -DLOCAL=64 -DWIDE=1 -DUNROLL=1 tune.LOCAL=1,4,16,32,64,128,256 tune.WIDE=1,2,4,8 tune.UNROLL=1,2,4
__kernel void scale_rows_to_one(__global const float *in, __global float *out, const int columns)
{
    __local float parts[LOCAL];
    const int mine = get_local_id(0);
    __global const float *row = in + get_group_id(0) * columns;
    float sum = 0.0f;
    #pragma unroll UNROLL
    for (int j = mine * WIDE; j < columns; j += LOCAL * WIDE)
        for (int k = 0; k < WIDE; ++k)
            sum += row[j + k];
    parts[mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = LOCAL / 2; step > 0; step /= 2) {
        if (mine < step)
            parts[mine] += parts[mine + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float scale = 1.0f / (parts[0] + 1.0f);
    for (int j = mine * WIDE; j < columns; j += LOCAL * WIDE)
        for (int k = 0; k < WIDE; ++k)
            out[get_group_id(0) * columns + j + k] = row[j + k] * scale;
}
