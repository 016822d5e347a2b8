// kernelcast: global=n/PER local=64 n=262144 in=n out=n -DPER=1 -DROUNDS=16 -DUNROLL=1 -DWAY=0 tune.PER=1,2,4,8 tune.UNROLL=1,2,4,16 tune.WAY=0,1 tune.local=16,64,256
__kernel void stir_words(__global const uint *in, __global uint *out)
{
    const int first = get_global_id(0) * PER;
    for (int j = 0; j < PER; ++j) {
        uint word = in[first + j];
        #pragma unroll UNROLL
        for (uint r = 0; r < ROUNDS; ++r) {
#if WAY
            word = rotate(word * 0x9E3779B1u, 13u) ^ (word + r);
#else
            const uint high = word * 0x9E3779B1u;
            word = ((high << 13) | (high >> 19)) ^ (word + r);
#endif
        }
        out[first + j] = word;
    }
}
