// kernelcast: global=n/PER local=64 n=1048576 in=n out=n -DPER=1 -DTABLE=0 -DSTRIDED=0 tune.PER=1,2,4,8 tune.TABLE=0,1,2 tune.STRIDED=0,1 tune.local=16,32,64,256
__kernel void count_set_bits(__global const uint *in, __global uchar *out)
{
    const int items = get_global_size(0);
    for (int j = 0; j < PER; ++j) {
        const int at = STRIDED ? j * items + get_global_id(0) : get_global_id(0) * PER + j;
        uint word = in[at];
#if TABLE == 0
        out[at] = popcount(word);
#elif TABLE == 1
        word -= (word >> 1) & 0x55555555u;
        word = (word & 0x33333333u) + ((word >> 2) & 0x33333333u);
        out[at] = (((word + (word >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
#else
        uint count = 0;
        for (int bit = 0; bit < 32; ++bit)
            count += (word >> bit) & 1u;
        out[at] = count;
#endif
    }
}
