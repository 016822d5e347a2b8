/* Deals decks: each item shuffles its own deck of 52 in private memory and writes the first hand. */

#define CARDS 52
#define HAND 5

// kernelcast: global=decks local=8 decks=40 seeds=decks hands=decks*5 fill.seeds=randint:1:1000000 name=s1
// kernelcast: global=decks local=32 decks=96 seeds=decks hands=decks*5 fill.seeds=randint:1:1000000 name=s2
// kernelcast: global=decks local=1 decks=6 seeds=decks hands=decks*5 fill.seeds=randint:1:1000000 name=s3
// kernelcast: global=decks local=64 decks=32768 seeds=decks hands=decks*5 fill.seeds=randint:1:1000000 name=measure
__kernel void shuffle_cards(__global const uint *restrict seeds, __global uchar *restrict hands)
{
    uchar deck[CARDS];
    for (int k = 0; k < CARDS; ++k)
        deck[k] = (uchar)k;

    uint state = seeds[get_global_id(0)];
    for (int k = CARDS - 1; k > 0; --k) {
        state = state * 1664525u + 1013904223u;
        const uint other = mul_hi(state, (uint)(k + 1));
        const uchar card = deck[k];
        deck[k] = deck[other];
        deck[other] = card;
    }
    for (int k = 0; k < HAND; ++k)
        hands[get_global_id(0) * HAND + k] = deck[k];
}
