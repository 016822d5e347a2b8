// kernelcast: global=n/PER local=64 n=524288 text=n+L word=L found=n L=12 fill.text=randint:97:101 fill.word=randint:97:101 -DPER=1 -DEARLY=1 -DL=12 -DUNROLL=1 tune.PER=1,2,4,8,16 tune.EARLY=0,1 tune.UNROLL=1,4,12 tune.local=8,16,64,256
__kernel void length_in_common(__global const uchar *text, __constant uchar *word, __global uchar *found)
{
    for (int j = 0; j < PER; ++j) {
        const int at = get_global_id(0) * PER + j;
        int length = 0;
#if EARLY
        while (length < L && text[at + length] == word[length])
            ++length;
#else
        int goes_on = 1;
        #pragma unroll UNROLL
        for (int k = 0; k < L; ++k) {
            goes_on &= text[at + k] == word[k];
            length += goes_on;
        }
#endif
        found[at] = length;
    }
}
