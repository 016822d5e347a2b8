// kernelcast: global=rows*LOCAL local=LOCAL rows=1024 columns=512 in=rows*columns out=rows*columns -DLOCAL=32 -DEXP=exp -DKEPT=1 tune.LOCAL=4,8,16,32,64,128,256 tune.EXP=exp,native_exp,half_exp tune.KEPT=0,1 tune.CHUNKED=0,1 -DCHUNKED=0 where LOCAL>=4
__kernel void shares_of_rows(__global const float *in, __global float *out, const int columns)
{
    __local float sums[LOCAL];
    const int mine = get_local_id(0), share = columns / LOCAL;
    const int begin = get_group_id(0) * columns;
    float sum = 0.0f;
    for (int k = 0; k < share; ++k) {
        const int at = begin + (CHUNKED ? mine * share + k : k * LOCAL + mine);
        const float value = EXP(in[at] * 0.25f);
        sum += value;
#if KEPT
        out[at] = value;
#endif
    }
    sums[mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    float all = 0.0f;
    for (int j = 0; j < LOCAL; ++j)
        all += sums[j];
    for (int k = 0; k < share; ++k) {
        const int at = begin + (CHUNKED ? mine * share + k : k * LOCAL + mine);
#if KEPT
        out[at] = out[at] / all;
#else
        out[at] = EXP(in[at] * 0.25f) / all;
#endif
    }
}
