/* Collatz flights: how many steps each start number takes to come down to one. */

// kernelcast: global=count local=64 count=262144 start=count steps=count limit=1000 fill.start=randint:1:1000000
__kernel void flight_length(__global const uint *restrict start,
                            __global ushort *restrict steps,
                            const uint limit)
{
    const size_t i = get_global_id(0);
    ulong height = start[i];
    uint taken = 0;
    while (height > 1 && taken < limit) {
        height = (height & 1) ? 3 * height + 1 : height >> 1;
        ++taken;
    }
    steps[i] = convert_ushort_sat(taken);
}
