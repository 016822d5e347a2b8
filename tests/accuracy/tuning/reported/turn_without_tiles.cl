// kernelcast: global=(N/NX, N/NY) local=(16, 4) N=1024 in=N*N out=N*N -DNX=1 -DNY=1 -DREAD_ROWS=1 tune.NX=1,2,4,8 tune.NY=1,2,4,8 tune.READ_ROWS=0,1 tune.local=(4,4),(16,4),(32,1),(8,16) where NX*NY<=32
__kernel void turn_without_tiles(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0) * NX, y = get_global_id(1) * NY;
    for (int j = 0; j < NY; ++j)
        for (int i = 0; i < NX; ++i)
#if READ_ROWS
            out[(x + i) * N + y + j] = in[(y + j) * N + x + i];
#else
            out[(y + j) * N + x + i] = in[(x + i) * N + y + j];
#endif
}
