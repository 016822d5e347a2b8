/* How many bits differ between rows of fingerprints: exclusive or and population counts, sixteen bytes at a time. */

// kernelcast: global=(n, n) local=(8, 8) n=24 blocks=4 prints=n*blocks*16 apart=n*n fill.prints=randint:0:256 name=s1
// kernelcast: global=(n, n) local=(4, 4) n=40 blocks=2 prints=n*blocks*16 apart=n*n fill.prints=randint:0:256 name=s2
// kernelcast: global=(n, n) local=(11, 1) n=11 blocks=32 prints=n*blocks*16 apart=n*n fill.prints=randint:0:256 name=s3
// kernelcast: global=(n, n) local=(16, 8) n=256 blocks=4 prints=n*blocks*16 apart=n*n fill.prints=randint:0:256 name=measure
__kernel void byte_tallies(__global const uchar *restrict prints, __global ushort *restrict apart, const int blocks)
{
    const int a = get_global_id(0), b = get_global_id(1);
    uint sum = 0;
    for (int k = 0; k < blocks; ++k) {
        const uint4 differing = as_uint4(vload16(a * blocks + k, prints) ^ vload16(b * blocks + k, prints));
        const uint4 counts = popcount(differing);
        sum += counts.x + counts.y + counts.z + counts.w;
    }
    apart[b * get_global_size(0) + a] = (ushort)sum;
}
