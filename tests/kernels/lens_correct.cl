/* Straightens a photograph: every output pixel looks up where a lens with radial distortion put it. */

__constant sampler_t between_pixels = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

// kernelcast: global=(W, H) local=(16, 8) W=640 H=480 photo=(W, H) straight=(W, H) k1=-0.12 k2=0.03
__kernel void lens_correct(__read_only image2d_t photo,
                           __write_only image2d_t straight,
                           const float k1,
                           const float k2)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int2 size = get_image_dim(straight);
    if (at.x >= size.x || at.y >= size.y)
        return;

    /* Distances count from the middle, in halves of the picture's height. */
    const float half_height = 0.5f * size.y;
    const float2 middle = 0.5f * convert_float2(size);
    const float2 way = (convert_float2(at) + 0.5f - middle) / half_height;
    const float r2 = dot(way, way);
    const float2 bent = way * (1.0f + r2 * (k1 + r2 * k2));

    const float2 source = (bent * half_height + middle) / convert_float2(size);
    write_imagef(straight, at, read_imagef(photo, between_pixels, source));
}
