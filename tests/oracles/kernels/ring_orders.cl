/* Signed areas and turning directions of closed outlines of land, in integers of 64 bits; outlines lie in one list. */

// kernelcast: global=ceil_div(rings,16)*16 local=16 rings=50 corners=600 first=rings+1 at=corners area=rings fill.first=csr_rows:corners fill.at=randint:-1000:1000 name=s1
// kernelcast: global=ceil_div(rings,32)*32 local=32 rings=200 corners=1000 first=rings+1 at=corners area=rings fill.first=csr_rows:corners fill.at=randint:-1000:1000 name=s2
// kernelcast: global=32 local=8 rings=20 corners=2000 first=rings+1 at=corners area=rings fill.first=csr_rows:corners fill.at=randint:-1000:1000 name=s3
// kernelcast: global=ceil_div(rings,32)*32 local=32 rings=20000 corners=600000 first=rings+1 at=corners area=rings fill.first=csr_rows:corners fill.at=randint:-1000:1000 name=measure
__kernel void ring_orders(__global const uint *restrict first,
                          __global const int2 *restrict at,
                          __global long *restrict area,
                          const uint rings)
{
    const uint ring = get_global_id(0);
    if (ring >= rings)
        return;
    const uint begin = first[ring], end = first[ring + 1];
    long twice = 0;
    for (uint k = begin; k < end; ++k) {
        const int2 a = at[k], b = at[k + 1 == end ? begin : k + 1];
        twice += (long)a.x * b.y - (long)b.x * a.y;
    }
    area[ring] = twice / 2;
}
