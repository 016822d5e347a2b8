/* Black and white from grey by passing each pixel's error on to the right: rows are independent, pixels are not. */

// kernelcast: global=height local=16 width=1024 height=768 grey=width*height dots=width*height fill.grey=uniform:0:1
__kernel void dither_rows(__global const float *restrict grey,
                          __global uchar *restrict dots,
                          const int width,
                          const int height)
{
    const int row = get_global_id(0);
    if (row >= height)
        return;

    float carried = 0.0f;
    for (int x = 0; x < width; ++x) {
        const float wanted = grey[row * width + x] + carried;
        const uchar ink = wanted > 0.5f ? 1 : 0;
        carried = wanted - ink;
        dots[row * width + x] = ink;
    }
}
