/* Places of many values in a sorted table by halving: the number of steps is the logarithm of the table's length. */

// kernelcast: global=ceil_div(queries,32)*32 local=32 queries=300 length=1024 table=length wanted=queries place=queries fill.table=iota fill.wanted=randint:0:length name=s1
// kernelcast: global=ceil_div(queries,64)*64 local=64 queries=1000 length=64 table=length wanted=queries place=queries fill.table=iota fill.wanted=randint:0:length name=s2
// kernelcast: global=256 local=8 queries=222 length=4096 table=length wanted=queries place=queries fill.table=iota fill.wanted=randint:0:length name=s3
// kernelcast: global=ceil_div(queries,64)*64 local=64 queries=100000 length=65536 table=length wanted=queries place=queries fill.table=iota fill.wanted=randint:0:length name=measure
__kernel void halving_search(__global const int *restrict table,
                             __global const int *restrict wanted,
                             __global int *restrict place,
                             const int length,
                             const int queries)
{
    const int i = get_global_id(0);
    if (i >= queries)
        return;
    const int key = wanted[i];
    int low = 0;
    for (int step = length / 2; step > 0; step /= 2)
        low += table[low + step] <= key ? step : 0;
    place[i] = low;
}
