/* How deep each node of a forest lies, by walking up its parents; roots are their own parents. */

// kernelcast: global=ceil_div(nodes,32)*32 local=32 nodes=300 parent=nodes depth=nodes fill.parent=iota name=s1
// kernelcast: global=ceil_div(nodes,16)*16 local=16 nodes=1000 parent=nodes depth=nodes fill.parent=zeros name=s2
// kernelcast: global=256 local=64 nodes=200 parent=nodes depth=nodes fill.parent=const:5 name=s3
// kernelcast: global=ceil_div(nodes,64)*64 local=64 nodes=500000 parent=nodes depth=nodes fill.parent=zeros name=measure
__kernel void tree_heights(__global const int *restrict parent, __global int *restrict depth, const int nodes)
{
    const int start = get_global_id(0);
    if (start >= nodes)
        return;
    int node = start, steps = 0;
    while (parent[node] != node && steps < nodes) {
        node = parent[node];
        ++steps;
    }
    depth[start] = steps;
}
