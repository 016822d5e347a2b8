// kernelcast: global=n/PER local=64 n=1048576 FIELDS=4 in=n*FIELDS out=n*FIELDS -DFIELDS=4 -DPER=1 -DWAY=0 tune.PER=1,2,4,8,16 tune.WAY=0,1,2 tune.local=8,16,32,64,128,256
__kernel void separate_fields(__global const float *in, __global float *out, const int n)
{
    for (int j = 0; j < PER; ++j) {
        const int at = WAY == 2 ? j * get_global_size(0) + get_global_id(0) : get_global_id(0) * PER + j;
#if WAY == 1
        const float4 all = vload4(at, in);
        out[at] = all.x;
        out[n + at] = all.y;
        out[2 * n + at] = all.z;
        out[3 * n + at] = all.w;
#else
        for (int k = 0; k < FIELDS; ++k)
            out[k * n + at] = in[at * FIELDS + k];
#endif
    }
}
