/* Sorts a short list by counting: an item's place is the number of items that come before it. */

// kernelcast: global=n local=64 n=8192 items=n ordered=n
__kernel void order_by_rank(__global const float *restrict items,
                            __global float *restrict ordered,
                            const int n)
{
    const int i = get_global_id(0);
    const float mine = items[i];
    int place = 0;
    for (int j = 0; j < n; ++j)
        place += items[j] < mine || (items[j] == mine && j < i); /* equal items keep their order */
    ordered[place] = mine;
}
