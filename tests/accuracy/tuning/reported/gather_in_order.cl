// kernelcast: global=n/PER local=64 n=1048576 in=n order=n out=n fill.order=perm -DPER=1 -DSTRIDED=0 -DUNROLL=1 tune.PER=1,2,4,8,16 tune.STRIDED=0,1 tune.UNROLL=1,4 tune.local=8,16,32,64,128,256
__kernel void gather_in_order(__global const float *in, __global const int *order, __global float *out)
{
    const int items = get_global_size(0);
    #pragma unroll UNROLL
    for (int j = 0; j < PER; ++j) {
        const int at = STRIDED ? j * items + get_global_id(0) : get_global_id(0) * PER + j;
        out[at] = in[order[at]] + 1.0f;
    }
}
