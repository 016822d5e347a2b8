/* Marks records in a shared bit map: each item sets the bit of its key, and the lowest and highest key are kept. */

// kernelcast: global=ceil_div(n,64)*64 local=64 n=500 keys=n bits=128 range=2 fill.keys=randint:0:4096 fill.bits=zeros fill.range=zeros name=s1
// kernelcast: global=ceil_div(n,32)*32 local=32 n=1200 keys=n bits=32 range=2 fill.keys=randint:0:1024 fill.bits=zeros fill.range=zeros name=s2
// kernelcast: global=256 local=16 n=250 keys=n bits=1024 range=2 fill.keys=iota fill.bits=zeros fill.range=zeros name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=200000 keys=n bits=32768 range=2 fill.keys=randint:0:1048576 fill.bits=zeros fill.range=zeros name=measure
__kernel void flag_records(__global const uint *keys, volatile __global uint *bits, volatile __global uint *range, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) {
        const uint key = keys[i];
        atomic_or(&bits[key >> 5], 1u << (key & 31));
        atomic_min(&range[0], key);
        atomic_max(&range[1], key);
    }
}
