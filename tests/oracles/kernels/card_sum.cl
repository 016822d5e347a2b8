/* Which card numbers are valid: every other digit doubled, digits of the sum added, all modulo ten. */

#define DIGITS 16

// kernelcast: global=n local=32 n=256 digits=n*16 valid=n fill.digits=randint:48:58 name=s1
// kernelcast: global=n local=20 n=60 digits=n*16 valid=n fill.digits=randint:48:58 name=s2
// kernelcast: global=n local=128 n=1024 digits=n*16 valid=n fill.digits=randint:48:58 name=s3
// kernelcast: global=n local=128 n=524288 digits=n*16 valid=n fill.digits=randint:48:58 name=measure
__kernel void card_sum(__global const char16 *restrict digits, __global uchar *restrict valid)
{
    const size_t i = get_global_id(0);
    const char16 d = digits[i] - (char16)('0');
    const char8 twice = d.even + d.even;
    const char8 cut = twice > (char8)(9) ? twice - (char8)(9) : twice;
    const char8 sums = cut + d.odd;
    const char4 s4 = sums.lo + sums.hi;
    const char2 s2 = s4.xy + s4.zw;
    valid[i] = (s2.x + s2.y) % 10 == 0;
}
