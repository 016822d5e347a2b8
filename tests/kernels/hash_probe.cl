/* Looks keys up in an open-addressing hash table with linear probing; a zero slot ends the search. */

#define NOT_FOUND 0xffffffffu

inline uint home_slot(const uint key, const uint mask)
{
    return (key * 2654435761u) & mask;
}

// kernelcast: global=lookups local=64 lookups=262144 slots=1048576 keys=slots values=slots wanted=lookups found=lookups mask=slots-1 fill.keys=randint:0:2 fill.wanted=randint:1:2000000000
__kernel void hash_probe(__global const uint *restrict keys,
                         __global const uint *restrict values,
                         __global const uint *restrict wanted,
                         __global uint *restrict found,
                         const uint mask)
{
    const size_t i = get_global_id(0);
    const uint key = wanted[i];
    uint slot = home_slot(key, mask);
    uint result = NOT_FOUND;
    while (keys[slot] != 0) {
        if (keys[slot] == key) {
            result = values[slot];
            break;
        }
        slot = (slot + 1) & mask;
    }
    found[i] = result;
}
