/* A box blur along rows with a sum that slides: each row adds the pixel that comes in and drops the one that goes. */

// kernelcast: global=rows local=8 rows=32 width=60 picture=rows*width blurred=rows*width reach=4 name=s1
// kernelcast: global=rows local=1 rows=7 width=300 picture=rows*width blurred=rows*width reach=10 name=s2
// kernelcast: global=rows local=50 rows=100 width=21 picture=rows*width blurred=rows*width reach=1 name=s3
// kernelcast: global=rows local=16 rows=1024 width=1000 picture=rows*width blurred=rows*width reach=8 name=measure
__kernel void smear_blur(__global const float *restrict picture,
                         __global float *restrict blurred,
                         const int width,
                         const int reach)
{
    __global const float *in = picture + get_global_id(0) * width;
    __global float *out = blurred + get_global_id(0) * width;
    const float scale = 1.0f / (2 * reach + 1);

    float sum = 0.0f;
    for (int x = -reach; x <= reach; ++x)
        sum += in[clamp(x, 0, width - 1)];
    for (int x = 0; x < width; ++x) {
        out[x] = sum * scale;
        sum += in[min(x + reach + 1, width - 1)] - in[max(x - reach, 0)];
    }
}
