// kernelcast: global=rows*LANES local=LOCAL rows=4096 columns=256 in=rows*columns place=rows -DLANES=1 -DLOCAL=32 -DBRANCH=1 tune.LANES=1,2,4,8,16 tune.LOCAL=16,32,64,128,256 tune.BRANCH=0,1 tune.STRIDED=0,1 -DSTRIDED=0
__kernel void place_of_lowest(__global const float *in, __global int *place, const int columns)
{
    __local float lows[LOCAL];
    __local int places[LOCAL];
    const int mine = get_local_id(0), lane = mine % LANES, row = get_global_id(0) / LANES, share = columns / LANES;
    float low = INFINITY;
    int at = 0;
    for (int k = 0; k < share; ++k) {
        const int column = STRIDED ? k * LANES + lane : lane * share + k;
        const float value = in[row * columns + column];
#if BRANCH
        if (value < low) {
            low = value;
            at = column;
        }
#else
        at = value < low ? column : at;
        low = fmin(value, low);
#endif
    }
    lows[mine] = low;
    places[mine] = at;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        for (int j = 1; j < LANES; ++j)
            if (lows[mine + j] < low || (lows[mine + j] == low && places[mine + j] < at)) {
                low = lows[mine + j];
                at = places[mine + j];
            }
        place[row] = at;
    }
}
