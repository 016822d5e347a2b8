// kernelcast: global=(N/NX, N/NY) local=(8, 8) N=128 a=N*N b=N*N c=N*N -DNX=1 -DNY=1 tune.NX=1,2,4,8 tune.NY=1,2,4,8 tune.local=(4,4),(8,4),(8,8),(16,2),(16,8),(32,1),(2,16) where NX*NY<=32
__kernel void product_in_registers(__global const float *a, __global const float *b, __global float *c, const int N)
{
    const int x = get_global_id(0) * NX, y = get_global_id(1) * NY;
    float sums[NY][NX];
    for (int j = 0; j < NY; ++j)
        for (int i = 0; i < NX; ++i)
            sums[j][i] = 0.0f;
    for (int k = 0; k < N; ++k) {
        float right[NX];
        for (int i = 0; i < NX; ++i)
            right[i] = b[k * N + x + i];
        for (int j = 0; j < NY; ++j) {
            const float left = a[(y + j) * N + k];
            for (int i = 0; i < NX; ++i)
                sums[j][i] += left * right[i];
        }
    }
    for (int j = 0; j < NY; ++j)
        for (int i = 0; i < NX; ++i)
            c[(y + j) * N + x + i] = sums[j][i];
}
