// kernelcast: global=(S, S/PER) local=(32, 4) S=128 in=(S+2)*(S+2)*(S+2) out=S*S*S -DPER=1 -DKEEP=0 -DUNROLL=1 tune.PER=1,2,4 tune.KEEP=0,1 tune.UNROLL=1,4 tune.local=(8,4),(8,8),(16,4),(16,16),(32,4),(32,8),(64,2),(64,4),(128,1),(128,2)
__kernel void spread_in_columns(__global const float *in, __global float *out, const int S)
{
    const int row = S + 2, sheet = row * row, x = get_global_id(0);
    for (int j = 0; j < PER; ++j) {
        const int y = get_global_id(1) * PER + j, first = (y + 1) * row + x + 1;
        float below = in[first], here = in[first + sheet];
        #pragma unroll UNROLL
        for (int z = 0; z < S; ++z) {
            const int at = first + (z + 1) * sheet;
#if KEEP
            const float above = in[at + sheet];
#else
            const float above = in[at + sheet];
            here = in[at];
            below = in[at - sheet];
#endif
            out[(z * S + y) * S + x] =
                here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - row] + in[at + row] - 6.0f * here);
            below = here;
            here = above;
        }
    }
}
