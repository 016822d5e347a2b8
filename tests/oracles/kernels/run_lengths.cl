/* Compresses rows of pixels into runs (value, length) of at most 255; how many runs a row needs depends on it. */

// kernelcast: global=ceil_div(rows,16)*16 local=16 rows=40 width=64 pixels=rows*width runs=rows*width used=rows fill.pixels=randint:0:2 name=s1
// kernelcast: global=ceil_div(rows,8)*8 local=8 rows=13 width=200 pixels=rows*width runs=rows*width used=rows fill.pixels=const:7 name=s2
// kernelcast: global=ceil_div(rows,32)*32 local=32 rows=100 width=40 pixels=rows*width runs=rows*width used=rows fill.pixels=randint:0:100 name=s3
// kernelcast: global=ceil_div(rows,16)*16 local=16 rows=4000 width=128 pixels=rows*width runs=rows*width used=rows fill.pixels=randint:0:4 name=measure
__kernel void run_lengths(__global const uchar *restrict pixels,
                          __global uchar2 *restrict runs,
                          __global int *restrict used,
                          const int width,
                          const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;

    __global const uchar *line = pixels + row * width;
    __global uchar2 *out = runs + row * width;
    int count = 0;
    uchar value = line[0], length = 1;
    for (int x = 1; x < width; x++) {
        const uchar pixel = line[x];
        if (pixel == value && length < 255) {
            ++length;
            continue;
        }
        out[count++] = (uchar2)(value, length);
        value = pixel;
        length = 1;
    }
    out[count++] = (uchar2)(value, length);
    used[row] = count;
}
