// kernelcast: global=(W/PER, H) local=(32, 2) W=512 H=512 in=(W+K)*(H+K) out=W*H weights=K*K K=3 -DK=3 -DPER=1 -DWHERE=0 -DLX=32 -DLY=2 tune.PER=1,2,4 tune.WHERE=0,1 tune.LX=8,16,32,64 tune.LY=1,2,4,8 tune.local=(8,1),(8,2),(8,4),(8,8),(16,1),(16,2),(16,4),(16,8),(32,1),(32,2),(32,4),(32,8),(64,1),(64,2),(64,4),(64,8) where local.x==LX and local.y==LY
__kernel void weigh_squares(__global const float *in, __constant float *weights, __global float *out, const int W)
{
    const int row = W + K, x0 = get_global_id(0) * PER, y = get_global_id(1);
#if WHERE == 1
    __local float near[LY + K][LX * PER + K];
    const int begin_x = get_group_id(0) * LX * PER, begin_y = get_group_id(1) * LY;
    for (int j = get_local_id(1); j < LY + K - 1; j += LY)
        for (int i = get_local_id(0); i < LX * PER + K - 1; i += LX)
            near[j][i] = in[(begin_y + j) * row + begin_x + i];
    barrier(CLK_LOCAL_MEM_FENCE);
#define IN(x, y) near[(y) - begin_y][(x) - begin_x]
#else
#define IN(x, y) in[(y) * row + (x)]
#endif
    float sums[PER];
    for (int i = 0; i < PER; ++i)
        sums[i] = 0.0f;
    for (int dy = 0; dy < K; ++dy)
        for (int dx = 0; dx < K; ++dx)
            for (int i = 0; i < PER; ++i)
                sums[i] += weights[dy * K + dx] * IN(x0 + i + dx, y + dy);
    for (int i = 0; i < PER; ++i)
        out[y * W + x0 + i] = sums[i];
}
