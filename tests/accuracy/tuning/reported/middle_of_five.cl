// kernelcast: global=(W, H/PER) local=(16, 8) W=1024 H=512 in=(W+2)*(H+2) out=W*H -DT=float -DPER=1 -DSORTED=0 tune.T=float,uchar,ushort,int tune.PER=1,2,4 tune.SORTED=0,1 tune.local=(16,4),(16,8),(32,4),(64,1),(64,4),(256,1)
__kernel void middle_of_five(__global const uchar *in, __global uchar *out, const int W)
{
    const int x = get_global_id(0), row = W + 2;
    for (int j = 0; j < PER; ++j) {
        const int y = get_global_id(1) * PER + j, at = (y + 1) * row + x + 1;
        T a = in[at], b = in[at - 1], c = in[at + 1], d = in[at - row], e = in[at + row];
#if SORTED
        T own[5] = {a, b, c, d, e};
        for (int i = 0; i < 3; ++i)
            for (int k = i + 1; k < 5; ++k)
                if (own[k] < own[i]) {
                    T kept = own[i];
                    own[i] = own[k];
                    own[k] = kept;
                }
        out[y * W + x] = (uchar)own[2];
#else
        T low = min(a, b), high = max(a, b), low2 = min(c, d), high2 = max(c, d);
        T left = max(low, low2), right = min(high, high2);
        out[y * W + x] = (uchar)max(min(left, right), min(max(left, right), e));
#endif
    }
}
