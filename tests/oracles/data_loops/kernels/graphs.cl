/* Rows of different lengths, links to follow, work that makes more work. */

#define COUNT(place)

// kernelcast: global=rows local=32 rows=1024 nnz=12000 starts=rows+1 columns=nnz x=4096 y=rows fill.starts=csr_rows:nnz fill.columns=randint:0:4096 name=even
// kernelcast: global=rows local=32 rows=1024 nnz=12000 starts=rows+1 columns=nnz x=4096 y=rows fill.starts=csr_rows:nnz:1.5 fill.columns=randint:0:4096 name=skewed
__kernel void rows_above(__global const int *starts, __global const int *columns, __global const float *x, __global float *y)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = starts[row]; k < starts[row + 1]; k++) {
        COUNT(rows_above_entry);
        const float value = x[columns[k]];
        if (value > 1.2f) {
            COUNT(rows_above_high);
            sum += sqrt(value) * log(value + sum * sum);
        }
    }
    y[row] = sum;
}

// kernelcast: global=n local=32 n=416 next=n lengths=n fill.next=perm name=cycles
__kernel void cycle_lengths(__global const int *next, __global int *lengths)
{
    const int start = get_global_id(0);
    int length = 1;
    for (int node = next[start]; node != start; node = next[node]) {
        COUNT(cycle_lengths_link);
        length++;
    }
    lengths[start] = length;
}

int root_of(__global const int *parent, int node)
{
    int above = parent[node] % (node + 1);
    while (above != node) {
        COUNT(root_of_link);
        node = above;
        above = parent[node] % (node + 1);
    }
    return node;
}

// kernelcast: global=edges local=64 edges=2048 n=5000 parent=n from=edges to=edges joined=1 fill.parent=randint:0:100000000 fill.from=randint:0:n fill.to=randint:0:n name=random
__kernel void same_trees(__global const int *parent, __global const int *from, __global const int *to, __global int *joined)
{
    const int edge = get_global_id(0);
    if (root_of(parent, from[edge]) == root_of(parent, to[edge]))
        atomic_inc(joined);
}

// kernelcast: global=n local=16 n=256 neighbours=32 reached=n fill.neighbours=randint:0:4294967295 name=half
// kernelcast: global=n local=16 n=256 neighbours=32 reached=n name=plain
__kernel void reachable(__global const uint *neighbours, __global uchar *reached)
{
    uint todo = 1u << (get_global_id(0) & 31), done = 0;
    int n = 0;
    while (todo) {
        COUNT(reachable_node);
        const int node = 31 - clz(todo);
        todo &= ~(1u << node);
        done |= 1u << node;
        todo |= neighbours[node] & ~done;
        n++;
    }
    reached[get_global_id(0)] = n;
}

typedef struct { int left, right; float weight; } Node;

// kernelcast: global=n local=32 n=512 nodes=4095 wanted=n sums=n fill.wanted=uniform:0:1 name=plain
__kernel void prune_tree(__global const Node *nodes, __global const float *wanted, __global float *sums)
{
    int stack[16];
    int used = 0;
    const float limit = 0.5f + 0.9f * wanted[get_global_id(0)];
    float sum = 0.0f;
    stack[used++] = 0;
    while (used > 0) {
        COUNT(prune_tree_node);
        const int at = stack[--used];
        const float weight = nodes[at].weight;
        sum += weight;
        if (weight < limit && at < 2047) {
            COUNT(prune_tree_inner);
            stack[used++] = 2 * at + 2;
            stack[used++] = 2 * at + 1;
        }
    }
    sums[get_global_id(0)] = sum;
}

// kernelcast: global=nodes local=64 nodes=2048 edges=8192 starts=nodes+1 ends=edges level=nodes changed=1 now=3 fill.starts=csr_rows:edges fill.ends=randint:0:nodes fill.level=randint:0:8 name=front
__kernel void next_level(__global const int *starts, __global const int *ends, __global int *level, __global int *changed, const int now)
{
    const int node = get_global_id(0);
    if (level[node] != now)
        return;
    const int last = starts[node + 1];
    for (int k = starts[node]; k < last; ++k) {
        COUNT(next_level_edge);
        const int other = ends[k];
        if (level[other] > now + 1) {
            COUNT(next_level_closer);
            level[other] = now + 1;
            *changed = 1;
        }
    }
}

// kernelcast: global=segments local=32 segments=704 n=9000 ends=segments+1 values=n largest=segments fill.ends=csr_rows:n:0.8 fill.values=uniform:0:1 name=skewed
__kernel void until_large(__global const int *ends, __global const float *values, __global float *largest)
{
    const int segment = get_global_id(0);
    float most = 0.0f;
    int k = ends[segment];
    while (k < ends[segment + 1] && most < 0.95f) {
        COUNT(until_large_value);
        most = fmax(most, values[k]);
        k++;
    }
    largest[segment] = most;
}

#define LANES 64

// kernelcast: global=rows*64 local=64 rows=96 nnz=20000 starts=rows+1 values=nnz sums=rows fill.starts=csr_rows:nnz:0.5 name=groups
__kernel void rows_in_groups(__global const int *starts, __global const float *values, __global float *sums)
{
    __local float parts[LANES];
    const int row = get_group_id(0), lane = get_local_id(0);
    float sum = 0.0f;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += LANES) {
        COUNT(rows_in_groups_entry);
        sum += values[k];
    }
    parts[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = LANES / 2; apart > 0; apart >>= 1) {
        if (lane < apart)
            parts[lane] += parts[lane + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        sums[row] = parts[0];
}
