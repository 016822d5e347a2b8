/* Sorting passes, which end when everything is in its place. */

#define COUNT(place)
#define FEW 12

// kernelcast: global=n local=32 n=608 values=12*n fill.values=uniform:0:1 name=random
// kernelcast: global=n local=32 n=608 values=12*n fill.values=iota name=ordered
// kernelcast: global=n local=32 n=608 values=12*n name=plain
__kernel void insertion_sort(__global float *values)
{
    __global float *own = values + FEW * get_global_id(0);
    for (int i = 1; i < FEW; i++) {
        COUNT(insertion_sort_value);
        const float value = own[i];
        int k = i;
        while (k > 0 && own[k - 1] > value) {
            COUNT(insertion_sort_shift);
            own[k] = own[k - 1];
            k--;
        }
        own[k] = value;
    }
}

// kernelcast: global=n local=16 n=400 values=12*n fill.values=randint:0:1000 name=random
__kernel void bubble_sort(__global int *values)
{
    int own[FEW];
    const int first = FEW * get_global_id(0);
    for (int k = 0; k < FEW; k++)
        own[k] = values[first + k];
    int swapped, end = FEW - 1;
    do {
        COUNT(bubble_sort_pass);
        swapped = 0;
        for (int k = 0; k < end; k++) {
            COUNT(bubble_sort_pair);
            if (own[k] > own[k + 1]) {
                COUNT(bubble_sort_swap);
                const int held = own[k];
                own[k] = own[k + 1];
                own[k + 1] = held;
                swapped = 1;
            }
        }
        end--;
    } while (swapped);
    for (int k = 0; k < FEW; k++)
        values[first + k] = own[k];
}

// kernelcast: global=groups*32 local=32 groups=16 values=64*groups fill.values=randint:0:500 name=random
__kernel void odd_even_sort(__global int *values)
{
    __local int own[64];
    __local int moved;
    const int lane = get_local_id(0), first = 64 * get_group_id(0);
    own[lane] = values[first + lane];
    own[lane + 32] = values[first + lane + 32];
    if (lane == 0)
        moved = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    while (moved) {
        COUNT(odd_even_sort_round);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0)
            moved = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int odd = 0; odd < 2; odd++) {
            const int at = 2 * lane + odd;
            if (at < 63 && own[at] > own[at + 1]) {
                COUNT(odd_even_sort_swap);
                const int held = own[at];
                own[at] = own[at + 1];
                own[at + 1] = held;
                moved = 1;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    values[first + lane] = own[lane];
    values[first + lane + 32] = own[lane + 32];
}

// kernelcast: global=rows local=16 rows=256 width=40 a=rows*width b=rows*width common=rows fill.a=sorted:0:40000 fill.b=sorted:0:40000 name=alike
__kernel void common_values(__global const int *a, __global const int *b, __global int *common, const int width)
{
    const int row = get_global_id(0);
    int i = row * width, k = row * width, both = 0;
    const int end_a = i + width, end_b = k + width;
    while (i < end_a && k < end_b) {
        COUNT(common_values_step);
        if (a[i] < b[k])
            i++;
        else if (a[i] > b[k])
            k++;
        else {
            COUNT(common_values_both);
            common[row] = ++both;
            i++;
            k++;
        }
    }
}

// kernelcast: global=n local=16 n=320 values=33*n medians=n fill.values=uniform:0:1 name=random
__kernel void median_by_parts(__global const float *values, __global float *medians)
{
    float own[33];
    const int i = get_global_id(0);
    for (int k = 0; k < 33; k++)
        own[k] = values[33 * i + k];
    int low = 0, high = 32;
    while (low < high) {
        COUNT(median_by_parts_round);
        const float pivot = own[16];
        int a = low, b = high;
        do {
            COUNT(median_by_parts_meet);
            while (own[a] < pivot) {
                COUNT(median_by_parts_up);
                a++;
            }
            while (own[b] > pivot) {
                COUNT(median_by_parts_down);
                b--;
            }
            if (a <= b) {
                const float held = own[a];
                own[a++] = own[b];
                own[b--] = held;
            }
        } while (a <= b);
        if (b < 16)
            low = a;
        if (a > 16)
            high = b;
    }
    medians[i] = own[16];
}
