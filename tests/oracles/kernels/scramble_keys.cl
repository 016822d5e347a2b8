/* Spreads 64-bit keys evenly: shifts, exclusive ors and multiplications that lose nothing; ROUNDS is a build option. */

#ifndef ROUNDS
#  define ROUNDS 2
#endif
#define STIR(k, shift, odd) k ^= k >> shift; k *= odd

// kernelcast: global=count local=64 count=1024 keys=count seed=12345 -DROUNDS=3 fill.keys=randint:0:1000000000 name=s1
// kernelcast: global=count local=128 count=2048 keys=count seed=1 -DROUNDS=1 fill.keys=randint:0:1000000000 name=s2
// kernelcast: global=count local=50 count=350 keys=count seed=99 -DROUNDS=16 fill.keys=randint:0:1000000000 name=s3
// kernelcast: global=count local=64 count=1048576 keys=count seed=12345 -DROUNDS=3 fill.keys=randint:0:1000000000 name=measure
kernel void scramble_keys(global ulong *keys, const ulong seed)
{
    const size_t gid = get_global_id(0);
    ulong k = keys[gid] ^ seed;
#pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        STIR(k, 31, 0x7fb5d329728ea185UL);
        STIR(k, 27, 0x81dadef4bc2dd44dUL);
        k ^= k >> 33;
    }
    keys[gid] = k;
}
