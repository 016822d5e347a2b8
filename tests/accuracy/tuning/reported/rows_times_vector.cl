// kernelcast: global=rows*PARTS/PER local=LOCAL rows=2048 columns=1024 a=rows*columns x=columns y=rows*PARTS -DPARTS=1 -DPER=1 -DLOCAL=32 -DSTRIDED=0 tune.PARTS=1,2,4,8 tune.PER=1,2,4 tune.LOCAL=8,16,32,64,128 tune.STRIDED=0,1 where PARTS*PER<=16
__kernel void rows_times_vector(__global const float *a, __global const float *x, __global float *y, const int columns)
{
    const int part = get_global_id(0) % PARTS, first = get_global_id(0) / PARTS * PER, share = columns / PARTS;
    for (int j = 0; j < PER; ++j) {
        float sum = 0.0f;
        for (int k = 0; k < share; ++k) {
            const int column = STRIDED ? k * PARTS + part : part * share + k;
            sum += a[(first + j) * columns + column] * x[column];
        }
        y[(first + j) * PARTS + part] = sum;
    }
}
