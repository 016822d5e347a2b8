/* Running sums along the rows of an integral image: one row to a work-group, doubling reach in local memory. */

// kernelcast: global=(width, rows) local=(width, 1) width=64 rows=5 counts=width*rows sums=width*rows a=width*4 b=width*4 name=s1
// kernelcast: global=(width, rows) local=(width, 1) width=32 rows=20 counts=width*rows sums=width*rows a=width*4 b=width*4 name=s2
// kernelcast: global=(width, rows) local=(width, 1) width=200 rows=3 counts=width*rows sums=width*rows a=width*4 b=width*4 name=s3
// kernelcast: global=(width, rows) local=(width, 1) width=256 rows=256 counts=width*rows sums=width*rows a=width*4 b=width*4 name=measure
__kernel void sweep_rows(__global const uint *restrict counts,
                         __global uint *restrict sums,
                         __local uint *a,
                         __local uint *b)
{
    const int x = get_local_id(0);
    const int width = get_local_size(0);
    const size_t at = get_global_id(1) * width + x;
    a[x] = counts[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int reach = 1; reach < width; reach *= 2) {
        b[x] = x >= reach ? a[x] + a[x - reach] : a[x];
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint *other = a;
        a = b;
        b = other;
    }
    sums[at] = a[x];
}
