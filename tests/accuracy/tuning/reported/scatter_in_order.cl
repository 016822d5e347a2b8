// kernelcast: global=n/PER local=64 n=1048576 in=n order=n out=n fill.order=perm -DPER=1 -DSTRIDED=0 -DT=float tune.PER=1,2,4,8 tune.STRIDED=0,1 tune.T=float,int,uchar tune.local=8,32,64,256
__kernel void scatter_in_order(__global const float *in, __global const int *order, __global float *out)
{
    const int items = get_global_size(0);
    for (int j = 0; j < PER; ++j) {
        const int at = STRIDED ? j * items + get_global_id(0) : get_global_id(0) * PER + j;
        const T value = (T)(in[at] > 0.5f);
        out[order[at]] = (float)value;
    }
}
