/* How often each hue occurs in a picture: buckets in local memory first, then one atomic a bucket and group. */

#define BUCKETS 64

int hue_bucket(const uchar4 pixel)
{
    const int4 c = convert_int4(pixel);
    const int high = max(c.x, max(c.y, c.z));
    const int spread = high - min(c.x, min(c.y, c.z));
    if (spread == 0)
        return 0; /* grey has no hue; it is counted with red */

    const float sextant = high == c.x   ? (float)(c.y - c.z) / spread
                          : high == c.y ? 2.0f + (float)(c.z - c.x) / spread
                                        : 4.0f + (float)(c.x - c.y) / spread;
    return (int)((sextant < 0.0f ? sextant + 6.0f : sextant) * (BUCKETS / 6.0f)) % BUCKETS;
}

// kernelcast: global=groups*128 local=128 groups=64 pixels=1048576 picture=pixels counts=64 fill.counts=zeros
__kernel void hue_buckets(__global const uchar4 *restrict picture,
                          __global uint *restrict counts,
                          const uint pixels)
{
    __local uint mine[BUCKETS];
    for (uint bucket = get_local_id(0); bucket < BUCKETS; bucket += get_local_size(0))
        mine[bucket] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < pixels; i += get_global_size(0))
        atomic_inc(&mine[hue_bucket(picture[i])]);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bucket = get_local_id(0); bucket < BUCKETS; bucket += get_local_size(0))
        atomic_add(&counts[bucket], mine[bucket]);
}
