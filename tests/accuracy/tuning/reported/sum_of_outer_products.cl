// kernelcast: global=(N/WIDE, N/DEEP) local=(16, 4) N=512 RANK=16 u=N*RANK v=N*RANK m=N*N -DT=float -DWIDE=1 -DDEEP=1 tune.T=float,double tune.WIDE=1,2,4,8 tune.DEEP=1,2,4 tune.local=(4,4),(16,4),(32,1),(32,8),(64,1)
__kernel void sum_of_outer_products(__global const float *u, __global const float *v, __global float *m, const int N, const int RANK)
{
    const int x = get_global_id(0) * WIDE, y = get_global_id(1) * DEEP;
    T sums[DEEP][WIDE];
    for (int j = 0; j < DEEP; ++j)
        for (int i = 0; i < WIDE; ++i)
            sums[j][i] = 0;
    for (int r = 0; r < RANK; ++r)
        for (int j = 0; j < DEEP; ++j)
            for (int i = 0; i < WIDE; ++i)
                sums[j][i] += (T)u[r * N + y + j] * (T)v[r * N + x + i];
    for (int j = 0; j < DEEP; ++j)
        for (int i = 0; i < WIDE; ++i)
            m[(y + j) * N + x + i] = (float)sums[j][i];
}
