// kernelcast: global=waves/PER local=16 waves=512 n=512 in=n out=waves -DPER=1 -DTURN=0 -DSIN=sin -DUNROLL=1 tune.PER=1,2,4 tune.TURN=0,1 tune.SIN=sin,native_sin tune.UNROLL=1,4 tune.local=4,8,16,32,64,128
__kernel void strength_of_waves(__global const float *in, __global float *out, const int n)
{
    for (int j = 0; j < PER; ++j) {
        const int wave = get_global_id(0) * PER + j;
        const float step = 6.2831853f * wave / n;
        float sum = 0.0f;
#if TURN
        const float c = cos(step), s = sin(step);
        float re = 1.0f, im = 0.0f;
        #pragma unroll UNROLL
        for (int k = 0; k < n; ++k) {
            sum += in[k] * im;
            const float turned = re * c - im * s;
            im = re * s + im * c;
            re = turned;
        }
#else
        #pragma unroll UNROLL
        for (int k = 0; k < n; ++k)
            sum += in[k] * SIN(step * k);
#endif
        out[wave] = sum;
    }
}
