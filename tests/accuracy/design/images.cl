// Images through samplers.

__constant sampler_t NEAR = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t SMOOTH = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

// kernelcast: global=(W, H) local=(16, 8) W=512 H=256 photo=(W, H) relief=W*H width=W
__kernel void relief(read_only image2d_t photo, __global float *restrict relief, int width)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const float4 d = read_imagef(photo, NEAR, at) - read_imagef(photo, NEAR, at - (int2)(1, 1));
    relief[at.y * width + at.x] = d.x + d.y + d.z;
}

// kernelcast: global=(W, H) local=(16, 8) W=320 H=240 photo=(W, H) small=(W, H)
__kernel void shrink_photo(read_only image2d_t photo, write_only image2d_t small)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const float2 from = convert_float2(at) * 0.9f + 0.5f;
    write_imagef(small, at, read_imagef(photo, SMOOTH, from));
}
