/* Grand totals of work-groups: each item sums a stretch, then the group adds up with ever more distant partners. */

#ifndef GROUP
#define GROUP 64
#endif

// kernelcast: global=groups*64 local=64 groups=6 n=2000 items=n totals=groups -DGROUP=64 name=s1
// kernelcast: global=groups*32 local=32 groups=3 n=5000 items=n totals=groups -DGROUP=32 name=s2
// kernelcast: global=groups*128 local=128 groups=4 n=700 items=n totals=groups -DGROUP=128 name=s3
// kernelcast: global=groups*64 local=64 groups=256 n=2000000 items=n totals=groups -DGROUP=64 name=measure
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sum_by_doubling(__global const int *restrict items, __global long *restrict totals, const int n)
{
    __local long part[GROUP];
    const int lid = get_local_id(0);
    long sum = 0;
    int i = get_group_id(0) * GROUP + lid;
    while (i < n) {
        sum += items[i];
        i += GROUP * get_num_groups(0);
    }
    part[lid] = sum;
    /* Neighbours far apart in time, near in memory: the stride doubles, and with it the banks that collide. */
    for (int stride = 1; stride < GROUP; stride *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int at = 2 * stride * lid;
        if (at < GROUP)
            part[at] += part[at + stride];
    }
    if (lid == 0)
        totals[get_group_id(0)] = part[0];
}
