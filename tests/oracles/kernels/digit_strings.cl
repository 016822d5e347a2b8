/* Numbers to decimal text, right-aligned in eleven characters: a do-loop that runs once a digit. */

#define FIELD 11

// kernelcast: global=n local=16 n=112 numbers=n text=n*11 fill.numbers=randint:1000:10000 name=s1
// kernelcast: global=n local=32 n=256 numbers=n text=n*11 fill.numbers=const:123456 name=s2
// kernelcast: global=n local=5 n=55 numbers=n text=n*11 fill.numbers=randint:0:1000000000 name=s3
// kernelcast: global=n local=64 n=131072 numbers=n text=n*11 fill.numbers=randint:0:1000000000 name=measure
__kernel void digit_strings(__global const uint *restrict numbers, __global char *restrict text)
{
    uint rest = numbers[get_global_id(0)];
    __global char *field = text + FIELD * get_global_id(0);
    int at = FIELD;
    do {
        field[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (at > 0)
        field[--at] = ' ';
}
