/* Sorts short pieces of a list in local memory: neighbours change places in turns of odd and even pairs. */

// kernelcast: global=pieces*32 local=32 pieces=3 items=pieces*32 fill.items=randint:0:1000 name=s1
// kernelcast: global=pieces*16 local=16 pieces=20 items=pieces*16 fill.items=randint:0:1000 name=s2
// kernelcast: global=pieces*64 local=64 pieces=1 items=pieces*64 fill.items=randint:0:1000 name=s3
// kernelcast: global=pieces*32 local=32 pieces=256 items=pieces*32 fill.items=randint:0:1000000 name=measure
__kernel void swap_sort_tile(__global int *items)
{
    __local int tile[256];
    const int lid = get_local_id(0);
    const int size = get_local_size(0);
    tile[lid] = items[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int turn = 0; turn < size; turn++) {
        const int left = 2 * lid + (turn & 1);
        if (left + 1 < size) {
            const int a = tile[left], b = tile[left + 1];
            tile[left] = min(a, b);
            tile[left + 1] = max(a, b);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    items[get_global_id(0)] = tile[lid];
}
