/* Turns a photograph by a quarter: reads an image by pixel, writes another; no filtering. */

__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// kernelcast: global=(ceil_div(W,8)*8, ceil_div(H,8)*8) local=(8, 8) W=30 H=50 upright=(H, W) turned=(W, H) name=s1
// kernelcast: global=(ceil_div(W,16)*16, ceil_div(H,4)*4) local=(16, 4) W=61 H=13 upright=(H, W) turned=(W, H) name=s2
// kernelcast: global=(64, 32) local=(4, 4) W=57 H=31 upright=(H, W) turned=(W, H) name=s3
// kernelcast: global=(ceil_div(W,16)*16, ceil_div(H,8)*8) local=(16, 8) W=300 H=400 upright=(H, W) turned=(W, H) name=measure
__kernel void photo_rotate(__read_only image2d_t upright, __write_only image2d_t turned)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= get_image_width(turned) || y >= get_image_height(turned))
        return;
    const float4 colour = read_imagef(upright, exact, (int2)(y, get_image_height(upright) - 1 - x));
    write_imagef(turned, (int2)(x, y), colour);
}
