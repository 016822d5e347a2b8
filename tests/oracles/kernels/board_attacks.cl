/* Squares that sliding pieces attack on chess boards, as bits of 64: rays run until something stands in the way. */

ulong ray(const ulong from, const ulong empty, const int shift, const ulong inside)
{
    ulong reached = 0, front = from;
    for (int step = 0; step < 7; ++step) {
        front = (shift > 0 ? front << shift : front >> -shift) & inside;
        reached |= front;
        front &= empty;
    }
    return reached;
}

// kernelcast: global=boards local=32 boards=96 rooks=boards men=boards attacks=boards fill.rooks=randint:1:1000000000 fill.men=randint:0:1000000000 name=s1
// kernelcast: global=boards local=8 boards=200 rooks=boards men=boards attacks=boards fill.rooks=randint:1:1000000000 fill.men=randint:0:1000000000 name=s2
// kernelcast: global=boards local=1 boards=9 rooks=boards men=boards attacks=boards fill.rooks=randint:1:1000000000 fill.men=randint:0:1000000000 name=s3
// kernelcast: global=boards local=64 boards=131072 rooks=boards men=boards attacks=boards fill.rooks=randint:1:1000000000 fill.men=randint:0:1000000000 name=measure
__kernel void board_attacks(__global const ulong *restrict rooks,
                            __global const ulong *restrict men,
                            __global ulong *restrict attacks)
{
    const size_t i = get_global_id(0);
    const ulong not_a = 0xfefefefefefefefeUL, not_h = 0x7f7f7f7f7f7f7f7fUL;
    const ulong from = rooks[i], empty = ~men[i];
    attacks[i] = ray(from, empty, 8, ~0UL) | ray(from, empty, -8, ~0UL) | ray(from, empty, 1, not_a)
               | ray(from, empty, -1, not_h);
}
