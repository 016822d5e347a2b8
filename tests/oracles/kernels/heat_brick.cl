/* Heat flows through a brick: a tile with a rim in local memory for each layer, in three dimensions, many layers deep. */

#define TX 8
#define TY 8

// kernelcast: global=(8*gx, 8*gy) local=(8, 8) gx=3 gy=2 nz=6 now=8*gx*8*gy*nz next=8*gx*8*gy*nz alpha=0.1 name=s1
// kernelcast: global=(8*gx, 8*gy) local=(8, 8) gx=1 gy=2 nz=20 now=8*gx*8*gy*nz next=8*gx*8*gy*nz alpha=0.05 name=s2
// kernelcast: global=(8*gx, 8*gy) local=(8, 8) gx=4 gy=4 nz=3 now=8*gx*8*gy*nz next=8*gx*8*gy*nz alpha=0.1 name=s3
// kernelcast: global=(8*gx, 8*gy) local=(8, 8) gx=16 gy=16 nz=32 now=8*gx*8*gy*nz next=8*gx*8*gy*nz alpha=0.1 name=measure
__kernel void heat_brick(__global const float *restrict now, __global float *restrict next, const int nz, const float alpha)
{
    __local float layer[TY + 2][TX + 2];
    const int x = get_global_id(0), y = get_global_id(1), nx = get_global_size(0), ny = get_global_size(1);
    const int lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
    const int plane = nx * ny, at = y * nx + x;

    for (int z = 1; z < nz - 1; ++z) {
        const float here = now[z * plane + at];
        barrier(CLK_LOCAL_MEM_FENCE);
        layer[ly][lx] = here;
        if (lx == 1)
            layer[ly][0] = x > 0 ? now[z * plane + at - 1] : here;
        if (lx == TX)
            layer[ly][TX + 1] = x < nx - 1 ? now[z * plane + at + 1] : here;
        if (ly == 1)
            layer[0][lx] = y > 0 ? now[z * plane + at - nx] : here;
        if (ly == TY)
            layer[TY + 1][lx] = y < ny - 1 ? now[z * plane + at + nx] : here;
        barrier(CLK_LOCAL_MEM_FENCE);
        const float around = layer[ly][lx - 1] + layer[ly][lx + 1] + layer[ly - 1][lx] + layer[ly + 1][lx]
                           + now[(z - 1) * plane + at] + now[(z + 1) * plane + at];
        next[z * plane + at] = here + alpha * (around - 6.0f * here);
    }
}
