/* Splits interleaved colour into luma and quarter-size chroma planes in fixed point, two by two pixels an item. */

// kernelcast: global=(half_w, half_h) local=(8, 4) half_w=24 half_h=16 rgba=half_w*half_h*4 luma=half_w*half_h*4 chroma=half_w*half_h pitch=half_w*2 fill.rgba=randint:0:256 name=s1
// kernelcast: global=(half_w, half_h) local=(16, 1) half_w=48 half_h=9 rgba=half_w*half_h*4 luma=half_w*half_h*4 chroma=half_w*half_h pitch=half_w*2 fill.rgba=randint:0:256 name=s2
// kernelcast: global=(half_w, half_h) local=(3, 3) half_w=21 half_h=33 rgba=half_w*half_h*4 luma=half_w*half_h*4 chroma=half_w*half_h pitch=half_w*2 fill.rgba=randint:0:256 name=s3
// kernelcast: global=(half_w, half_h) local=(32, 4) half_w=640 half_h=480 rgba=half_w*half_h*4 luma=half_w*half_h*4 chroma=half_w*half_h pitch=half_w*2 fill.rgba=randint:0:256 name=measure
__kernel void chroma_planes(__global const uchar4 *restrict rgba,
                            __global uchar *restrict luma,
                            __global uchar2 *restrict chroma,
                            const int pitch)
{
    const int cx = get_global_id(0), cy = get_global_id(1);
    int4 sum = (int4)(0);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int at = (2 * cy + (k >> 1)) * pitch + 2 * cx + (k & 1);
        const int4 c = convert_int4(rgba[at]);
        luma[at] = (uchar)((77 * c.x + 150 * c.y + 29 * c.z + 128) >> 8);
        sum += c;
    }
    const int u = ((-43 * sum.x - 85 * sum.y + 128 * sum.z) >> 10) + 128;
    const int v = ((128 * sum.x - 107 * sum.y - 21 * sum.z) >> 10) + 128;
    chroma[cy * get_global_size(0) + cx] = convert_uchar2_sat((int2)(u, v));
}
