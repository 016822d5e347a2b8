/* Label propagation on a graph in compressed rows: every node takes the label of its most trusted neighbour. */

// kernelcast: global=nodes local=64 nodes=65536 first_edge=nodes+1 target=nodes*12 trust=nodes*12 label=nodes next_label=nodes fill.first_edge=csr_rows:nodes*12 fill.target=randint:0:nodes
__kernel void neighbour_vote(__global const int *restrict first_edge,
                             __global const int *restrict target,
                             __global const float *restrict trust,
                             __global const int *restrict label,
                             __global int *restrict next_label,
                             const int nodes)
{
    const int node = get_global_id(0);
    if (node >= nodes)
        return;

    int chosen = label[node];
    float best = 0.0f;
    for (int edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
        if (trust[edge] > best) {
            best = trust[edge];
            chosen = label[target[edge]];
        }
    }
    next_label[node] = chosen;
}
