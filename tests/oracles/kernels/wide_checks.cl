/* Which of four clocks agree: 64-bit stamps compared lane by lane, with any and all. */

// kernelcast: global=n local=16 n=208 stamps=n verdict=n slack=10 fill.stamps=randint:0:1000 name=s1
// kernelcast: global=n local=64 n=1024 stamps=n verdict=n slack=100 fill.stamps=randint:0:1000 name=s2
// kernelcast: global=n local=11 n=77 stamps=n verdict=n slack=1000 fill.stamps=randint:0:1000 name=s3
// kernelcast: global=n local=64 n=262144 stamps=n verdict=n slack=10 fill.stamps=randint:0:1000 name=measure
__kernel void wide_checks(__global const long4 *restrict stamps, __global char *restrict verdict, const long slack)
{
    const size_t i = get_global_id(0);
    const long4 t = stamps[i];
    const long4 far = convert_long4(abs_diff(t, t.yzwx));
    const long4 apart = far > slack;
    verdict[i] = any(apart) ? (all(apart) ? 2 : 1) : 0;
}
