/* A stream cipher in the manner of quarter rounds: additions, exclusive ors and rotations of four words at once. */

#define QUARTER(a, b, c, d) \
    a += b; d = rotate(d ^ a, (uint4)(16u)); \
    c += d; b = rotate(b ^ c, (uint4)(12u)); \
    a += b; d = rotate(d ^ a, (uint4)(8u)); \
    c += d; b = rotate(b ^ c, (uint4)(7u));

// kernelcast: global=blocks local=16 blocks=48 text=blocks*4 rounds=4 nonce=77 fill.text=randint:0:1000000 name=s1
// kernelcast: global=blocks local=50 blocks=100 text=blocks*4 rounds=10 nonce=1 fill.text=randint:0:1000000 name=s2
// kernelcast: global=blocks local=1 blocks=9 text=blocks*4 rounds=20 nonce=5 fill.text=randint:0:1000000 name=s3
// kernelcast: global=blocks local=64 blocks=65536 text=blocks*4 rounds=10 nonce=77 fill.text=randint:0:1000000 name=measure
__kernel void turn_bits(__global uint4 *text, const int rounds, const uint nonce)
{
    const uint block = get_global_id(0);
    const uint4 a0 = (uint4)(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u);
    const uint4 d0 = (uint4)(block, 0u, nonce, 0u);
    uint4 a = a0, b = (uint4)(1u, 2u, 3u, 4u), c = (uint4)(5u, 6u, 7u, 8u), d = d0;
    for (int r = 0; r < rounds; ++r) {
        QUARTER(a, b, c, d)
        b = b.yzwx, c = c.zwxy, d = d.wxyz;
        QUARTER(a, b, c, d)
        b = b.wxyz, c = c.zwxy, d = d.yzwx;
    }
    text[4 * block] ^= a + a0;
    text[4 * block + 1] ^= b + (uint4)(1u, 2u, 3u, 4u);
    text[4 * block + 2] ^= c + (uint4)(5u, 6u, 7u, 8u);
    text[4 * block + 3] ^= d + d0;
}
