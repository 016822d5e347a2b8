/* Levels of sound blocks: the group copies its block to local memory in one go, then each item looks at its share. */

#define SHARE 8

// kernelcast: global=groups*32 local=32 groups=6 samples=groups*256 levels=groups*32 block=256*4 name=s1
// kernelcast: global=groups*16 local=16 groups=20 samples=groups*128 levels=groups*16 block=128*4 name=s2
// kernelcast: global=groups*64 local=64 groups=3 samples=groups*512 levels=groups*64 block=512*4 name=s3
// kernelcast: global=groups*64 local=64 groups=2048 samples=groups*512 levels=groups*64 block=512*4 name=measure
__kernel void copy_then_fold(__global const float *samples, __global float *levels, __local float *block)
{
    const size_t size = get_local_size(0) * SHARE;
    event_t copied = async_work_group_copy(block, samples + get_group_id(0) * size, size, 0);
    wait_group_events(1, &copied);
    float squares = 0.0f;
    for (int k = 0; k < SHARE; ++k) {
        const float sample = block[get_local_id(0) * SHARE + k];
        squares += sample * sample;
    }
    levels[get_global_id(0)] = 10.0f * log10(squares / SHARE);
}
