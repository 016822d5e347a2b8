/* Lays premultiplied sprites over a background, half floats in memory and floats in between, sixteen values at a time. */

// kernelcast: global=blocks local=16 blocks=48 sprite=blocks*16 ground=blocks*16 out=blocks*16 opacity=0.8 fill.sprite=uniform:0:1 fill.ground=uniform:0:1 name=s1
// kernelcast: global=blocks local=5 blocks=35 sprite=blocks*16 ground=blocks*16 out=blocks*16 opacity=0.5 fill.sprite=uniform:0:1 fill.ground=uniform:0:1 name=s2
// kernelcast: global=blocks local=64 blocks=128 sprite=blocks*16 ground=blocks*16 out=blocks*16 opacity=1 fill.sprite=uniform:0:1 fill.ground=uniform:0:1 name=s3
// kernelcast: global=blocks local=64 blocks=65536 sprite=blocks*16 ground=blocks*16 out=blocks*16 opacity=0.8 fill.sprite=uniform:0:1 fill.ground=uniform:0:1 name=measure
__kernel void alpha_tiles(__global const half *restrict sprite,
                          __global const half *restrict ground,
                          __global half *restrict out,
                          const float opacity)
{
    const size_t block = get_global_id(0);
    const float16 over = opacity * vload_half16(block, sprite);
    const float16 alpha = (float16)(over.s3333, over.s7777, over.sbbbb, over.sffff);
    vstore_half16(over + (1.0f - alpha) * vload_half16(block, ground), block, out);
}
