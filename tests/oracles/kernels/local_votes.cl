/* Most frequent small number of each block: votes with atomics in local memory, then one item looks for the winner. */

#define KINDS 32

// kernelcast: global=groups*64 local=64 groups=6 share=8 marks=groups*64*share winner=groups fill.marks=randint:0:32 name=s1
// kernelcast: global=groups*32 local=32 groups=12 share=3 marks=groups*32*share winner=groups fill.marks=randint:0:32 name=s2
// kernelcast: global=groups*128 local=128 groups=2 share=20 marks=groups*128*share winner=groups fill.marks=randint:0:32 name=s3
// kernelcast: global=groups*64 local=64 groups=512 share=16 marks=groups*64*share winner=groups fill.marks=randint:0:32 name=measure
__kernel void local_votes(__global const uchar *restrict marks, __global uchar *restrict winner, const int share)
{
    __local int votes[KINDS];
    const int lid = get_local_id(0), size = get_local_size(0);
    for (int kind = lid; kind < KINDS; kind += size)
        votes[kind] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    __global const uchar *block = marks + get_group_id(0) * size * share;
    for (int k = 0; k < share; ++k)
        atomic_inc(&votes[block[k * size + lid] & (KINDS - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lid != 0)
        return;
    int best = 0;
    for (int kind = 1; kind < KINDS; ++kind)
        if (votes[kind] > votes[best])
            best = kind;
    winner[get_group_id(0)] = (uchar)best;
}
