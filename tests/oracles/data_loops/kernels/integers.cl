/* Loops of number theory and of bits: what they work on decides how often they run. */

#define COUNT(place)

// kernelcast: global=n local=64 n=4096 a=n b=n divisor=n fill.a=randint:1:1000000 fill.b=randint:1:1000000 name=large
// kernelcast: global=n local=64 n=2048 a=n b=n divisor=n name=plain
__kernel void euclid(__global const uint *a, __global const uint *b, __global uint *divisor)
{
    const int i = get_global_id(0);
    uint x = a[i], y = b[i];
    while (y) {
        COUNT(euclid_step);
        const uint rest = x % y;
        x = y;
        y = rest;
    }
    divisor[i] = x;
}

// kernelcast: global=n local=32 n=3008 length=n name=ids
__kernel void hailstones(__global int *length)
{
    const uint start = get_global_id(0) + 1;
    ulong n = start;
    int steps = 0;
    while (n != 1) {
        COUNT(hailstones_step);
        if (n & 1) {
            COUNT(hailstones_odd);
            n = 3 * n + 1;
            steps += 2;
            n >>= 1;
        } else {
            n >>= 1;
            steps++;
        }
    }
    length[start - 1] = steps;
}

// kernelcast: global=n local=64 n=4032 numbers=n sums=n fill.numbers=skewed:1:1000000 name=skewed
// kernelcast: global=n local=64 n=4032 numbers=n sums=n fill.numbers=randint:0:1000000 name=even
__kernel void digit_sums(__global const int *numbers, __global uchar *sums)
{
    const int i = get_global_id(0);
    uchar sum = 0;
    for (int rest = numbers[i]; rest > 0; rest /= 10) {
        COUNT(digit_sums_digit);
        sum += rest % 10;
    }
    sums[i] = sum;
}

int is_prime(uint n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return 0;
    for (uint d = 3; d * d <= n; d += 2) {
        COUNT(is_prime_division);
        if (n % d == 0)
            return 0;
    }
    return 1;
}

// kernelcast: global=n local=64 n=4096 first=1000000 found=1 name=dense
__kernel void count_primes(const uint first, __global int *found)
{
    if (is_prime(first + get_global_id(0)))
        atomic_inc(found);
}

// kernelcast: global=n local=64 n=1536 numbers=n least=n fill.numbers=randint:2:100000 name=mixed
__kernel void least_factor(__global const int *numbers, __global int *least)
{
    const int i = get_global_id(0), n = numbers[i];
    int factor = n;
    for (int d = 2; d * d <= n; d++) {
        COUNT(least_factor_trial);
        if (n % d)
            continue;
        factor = d;
        break;
    }
    least[i] = factor;
}

// kernelcast: global=n local=128 n=6016 perfect=n name=ids
__kernel void divisor_sums(__global uchar *perfect)
{
    const int n = get_global_id(0) + 2;
    int sum = 1;
    for (int d = 2; d * d <= n; d++) {
        COUNT(divisor_sums_trial);
        if (n % d == 0)
            sum += d + (d * d == n ? 0 : n / d);
    }
    perfect[n - 2] = sum == n;
}

// kernelcast: global=n local=64 n=5056 words=n bits=n fill.words=randint:0:4294967295 name=full
// kernelcast: global=n local=64 n=5056 words=n bits=n name=plain
__kernel void count_bits(__global const uint *words, __global uchar *bits)
{
    const int i = get_global_id(0);
    uchar n = 0;
    for (uint rest = words[i]; rest; rest &= rest - 1) {
        COUNT(count_bits_bit);
        n++;
    }
    bits[i] = n;
}

// kernelcast: global=n local=64 n=4096 words=n zeros=n fill.words=skewed:1:2000000000 name=skewed
__kernel void zeros_in_front(__global const uint *words, __global int *zeros)
{
    const int i = get_global_id(0);
    uint word = words[i];
    int n = 0;
    while (!(word & 0x80000000u)) {
        COUNT(zeros_in_front_shift);
        word <<= 1;
        ++n;
    }
    zeros[i] = n;
}

// kernelcast: global=n local=32 n=2016 numbers=n text=16*n base=7 fill.numbers=randint:0:10000000 name=seven
__kernel void in_base(__global const uint *numbers, __global char *text, const uint base)
{
    const int i = get_global_id(0);
    char digits[32];
    int used = 0;
    uint rest = numbers[i];
    do {
        COUNT(in_base_digit);
        digits[used++] = '0' + rest % base;
        rest /= base;
    } while (rest);
    for (int k = 0; k < used; k++) {
        COUNT(in_base_copy);
        text[16 * i + k] = digits[used - 1 - k];
    }
}

// kernelcast: global=n local=64 n=3008 limits=n index=n fill.limits=randint:1:1000000000 name=large
__kernel void fibonacci_below(__global const int *limits, __global int *index)
{
    const int i = get_global_id(0);
    const long limit = limits[i];
    long a = 0, b = 1;
    int k = 0;
    while (b < limit) {
        COUNT(fibonacci_below_step);
        const long c = a + b;
        a = b;
        b = c;
        k++;
    }
    index[i] = k;
}

// kernelcast: global=n local=64 n=3008 bases=n exponents=n power=n fill.bases=randint:1:1000 fill.exponents=skewed:1:65536 name=skewed
__kernel void power_modulo(__global const uint *bases, __global const uint *exponents, __global uint *power)
{
    const int i = get_global_id(0);
    ulong base = bases[i], result = 1;
    for (uint e = exponents[i]; e != 0; e >>= 1) {
        COUNT(power_modulo_bit);
        if (e & 1)
            result = result * base % 1000000007ul;
        base = base * base % 1000000007ul;
    }
    power[i] = (uint)result;
}

// kernelcast: global=n local=64 n=2560 happy=n name=ids
__kernel void happy_numbers(__global uchar *happy)
{
    int n = get_global_id(0) + 1;
    while (n != 1 && n != 4) {
        COUNT(happy_numbers_round);
        int sum = 0;
        while (n) {
            COUNT(happy_numbers_digit);
            const int digit = n % 10;
            sum += digit * digit;
            n /= 10;
        }
        n = sum;
    }
    happy[get_global_id(0)] = n == 1;
}

#define SIEVED 512

// kernelcast: global=64*groups local=64 groups=12 primes=groups name=groups
__kernel void sieve(__global int *primes)
{
    __local uchar composite[SIEVED];
    __local int found;
    const int lane = get_local_id(0), first = get_group_id(0) * SIEVED;
    for (int k = lane; k < SIEVED; k += 64)
        composite[k] = first + k < 2;
    if (lane == 0)
        found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int p = lane + 2;
    int divides = 0;
    for (int d = 2; d * d <= p && !divides; d++) {
        COUNT(sieve_trial);
        divides = p % d == 0;
    }
    if (!divides) {
        for (int m = max(2 * p, (first + p - 1) / p * p); m < first + SIEVED; m += p) {
            COUNT(sieve_multiple);
            composite[m - first] = 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = lane; k < SIEVED; k += 64)
        if (!composite[k]) {
            COUNT(sieve_prime);
            atomic_inc(&found);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        primes[get_group_id(0)] = found;
}
