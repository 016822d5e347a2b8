/* Powers of a base modulo a prime, by repeated squaring: exponents lose their last bit each turn. */

// kernelcast: global=ceil_div(n,32)*32 local=32 n=100 powers=n base=3 modulus=65537 exponent=65535 name=s1
// kernelcast: global=ceil_div(n,64)*64 local=64 n=300 powers=n base=7 modulus=1000003 exponent=1024 name=s2
// kernelcast: global=ceil_div(n,16)*16 local=16 n=99 powers=n base=5 modulus=2147483629 exponent=2000000000 name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=30000 powers=n base=3 modulus=65537 exponent=65535 name=measure
__kernel void powers_table(__global uint *powers, const uint n, const uint base, const uint modulus, const uint exponent)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    ulong square = (base + i) % modulus, result = 1;
    for (uint e = exponent; e > 0; e >>= 1) {
        if (e & 1)
            result = result * square % modulus;
        square = square * square % modulus;
    }
    powers[i] = (uint)result;
}
