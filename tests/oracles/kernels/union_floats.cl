/* Square roots by looking at floats as integers: a first guess from the bits, then two steps of Newton's method. */

typedef union {
    float value;
    uint bits;
} view_t;

// kernelcast: global=n local=64 n=1024 numbers=n roots=n fill.numbers=uniform:0.1:1000 name=s1
// kernelcast: global=n local=17 n=340 numbers=n roots=n fill.numbers=uniform:0.1:1000 name=s2
// kernelcast: global=n local=128 n=128 numbers=n roots=n fill.numbers=uniform:0.1:1000 name=s3
// kernelcast: global=n local=128 n=1048576 numbers=n roots=n fill.numbers=uniform:0.1:1000 name=measure
__kernel void union_floats(__global const float *restrict numbers, __global float *restrict roots)
{
    const size_t i = get_global_id(0);
    const float x = numbers[i];
    view_t guess;
    guess.value = x;
    guess.bits = 0x1fbd1df5u + (guess.bits >> 1);
    float r = guess.value;
    r = 0.5f * (r + x / r);
    r = 0.5f * (r + x / r);
    roots[i] = as_float(as_uint(r) & 0xfffffff0u);
}
