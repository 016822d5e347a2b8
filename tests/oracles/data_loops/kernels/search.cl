/* Searches in memory: they end where something is found. */

#define COUNT(place)

// kernelcast: global=queries local=32 queries=640 length=2000 values=length keys=queries place=queries fill.values=randint:0:500 fill.keys=randint:0:500 name=found
// kernelcast: global=queries local=32 queries=256 length=400 values=length keys=queries place=queries name=plain
__kernel void linear_search(__global const int *values, __global const int *keys, __global int *place, const int length)
{
    const int i = get_global_id(0), key = keys[i];
    int at = -1;
    for (int k = 0; k < length; k++) {
        COUNT(linear_search_look);
        if (values[k] == key) {
            at = k;
            break;
        }
    }
    place[i] = at;
}

// kernelcast: global=queries local=64 queries=2048 length=4096 sorted=length keys=queries place=queries fill.sorted=sorted:0:100000 fill.keys=randint:0:100000 name=misses
// kernelcast: global=queries local=64 queries=2048 length=4096 sorted=length keys=queries place=queries fill.sorted=iota fill.keys=randint:0:4096 name=hits
__kernel void binary_search(__global const int *sorted, __global const int *keys, __global int *place, const int length)
{
    const int i = get_global_id(0), key = keys[i];
    int low = 0, high = length - 1, found = -1;
    while (low <= high) {
        COUNT(binary_search_halving);
        const int middle = (low + high) / 2;
        const int value = sorted[middle];
        if (value == key) {
            found = middle;
            break;
        }
        if (value < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    place[i] = found;
}

// kernelcast: global=n local=64 n=1024 slots=4096 table=slots keys=n found=n fill.table=randint:0:5 fill.keys=randint:1:60 name=fifths
__kernel void hash_probe(__global const int *table, __global const int *keys, __global int *found, const uint slots)
{
    const int i = get_global_id(0), key = keys[i];
    uint slot = (uint)(key * 2654435761u + i * 40503u) % slots;
    while (table[slot] != 0 && table[slot] != key) {
        COUNT(hash_probe_next);
        slot = slot + 1 < slots ? slot + 1 : 0;
    }
    found[i] = table[slot] == key ? (int)slot : -1;
}

// kernelcast: global=queries local=64 queries=1536 length=10000 sorted=length keys=queries place=queries fill.sorted=sorted:0:1 fill.keys=uniform:0:1 name=gallop
__kernel void gallop(__global const float *sorted, __global const float *keys, __global int *place, const int length)
{
    const int i = get_global_id(0);
    const float key = keys[i];
    int reach = 1;
    while (reach < length && sorted[reach] < key) {
        COUNT(gallop_doubling);
        reach *= 2;
    }
    int low = reach / 2, high = min(reach, length);
    while (low < high) {
        COUNT(gallop_halving);
        const int middle = low + (high - low) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

int first_above(__global const float *row, int length, float level)
{
    for (int k = 0; k < length; k++) {
        COUNT(first_above_look);
        if (row[k] > level)
            return k;
    }
    return length;
}

// kernelcast: global=rows local=16 rows=512 width=300 level=0.99 pictures=rows*width first=rows fill.pictures=uniform:0:1 name=rare
// kernelcast: global=rows local=16 rows=512 width=300 level=1.45 pictures=rows*width first=rows name=plain
__kernel void first_bright(__global const float *pictures, __global int *first, const int width, const float level)
{
    const int row = get_global_id(0);
    first[row] = first_above(pictures + row * width, width, level);
}

typedef struct { float low, high; int count, open; } Bin;

// kernelcast: global=n local=64 n=2048 bins=64 edges=bins+1 samples=n counts=bins fill.edges=sorted:0:10 fill.samples=uniform:0:10 name=even
__kernel void walk_bins(__global const float *edges, __global const float *samples, __global int *counts, const int bins)
{
    const float sample = samples[get_global_id(0)];
    int bin = 0;
    while (bin < bins - 1 && edges[bin + 1] <= sample) {
        COUNT(walk_bins_edge);
        bin++;
    }
    atomic_inc(&counts[bin]);
}

// kernelcast: global=n local=32 n=800 width=64 items=n*width sizes=n taken=n capacity=20 fill.items=uniform:0:1 fill.sizes=randint:0:64 name=varied
__kernel void fill_up(__global const float *items, __global const int *sizes, __global int *taken, const float capacity)
{
    const int i = get_global_id(0);
    float room = capacity;
    int k = 0;
    for (; k < sizes[i] && room >= 0.0f; ++k) {
        COUNT(fill_up_item);
        room -= items[64 * i + k];
    }
    taken[i] = k;
}
