/* Packs small integers eight to a word and counts those that did not fit. */

// kernelcast: global=words local=32 words=96 values=words*8 packed=words clipped=words fill.values=randint:0:16 name=s1
// kernelcast: global=words local=4 words=20 values=words*8 packed=words clipped=words fill.values=randint:0:32 name=s2
// kernelcast: global=words local=128 words=512 values=words*8 packed=words clipped=words fill.values=randint:0:16 name=s3
// kernelcast: global=words local=128 words=131072 values=words*8 packed=words clipped=words fill.values=randint:0:20 name=measure
__kernel void pack_nibbles(__global const int *restrict values, __global uint *restrict packed, __global uchar *restrict clipped)
{
    const size_t word = get_global_id(0);
    const int8 v = vload8(word, values);
    const int8 kept = clamp(v, 0, 15);
    const int8 over = v != kept; /* all bits where it is so */
    packed[word] = (uint)(kept.s0 | kept.s1 << 4 | kept.s2 << 8 | kept.s3 << 12 | kept.s4 << 16 | kept.s5 << 20
                          | kept.s6 << 24 | kept.s7 << 28);
    const int4 half_sum = over.lo + over.hi;
    const int2 quarter_sum = half_sum.even + half_sum.odd;
    clipped[word] = (uchar)-(quarter_sum.x + quarter_sum.y);
}
