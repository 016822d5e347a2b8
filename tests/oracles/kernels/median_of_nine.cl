/* Takes the grain out of a picture: the median of 3 x 3 pixels, by a network of nineteen exchanges. */

#define ORDER(a, b) { const uchar low = min(p[a], p[b]); p[b] = max(p[a], p[b]); p[a] = low; }

// kernelcast: global=(ceil_div(w,8)*8, ceil_div(h,4)*4) local=(8, 4) w=40 h=30 grey=w*h calm=w*h fill.grey=randint:0:256 name=s1
// kernelcast: global=(ceil_div(w,32)*32, ceil_div(h,1)*1) local=(32, 1) w=70 h=11 grey=w*h calm=w*h fill.grey=randint:0:256 name=s2
// kernelcast: global=(64, 48) local=(16, 16) w=51 h=47 grey=w*h calm=w*h fill.grey=randint:0:256 name=s3
// kernelcast: global=(ceil_div(w,32)*32, ceil_div(h,4)*4) local=(32, 4) w=640 h=480 grey=w*h calm=w*h fill.grey=randint:0:256 name=measure
__kernel void median_of_nine(__global const uchar *restrict grey, __global uchar *restrict calm, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        calm[y * w + x] = grey[y * w + x];
        return;
    }
    uchar p[9];
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            p[3 * dy + dx + 4] = grey[(y + dy) * w + x + dx];

    ORDER(1, 2) ORDER(4, 5) ORDER(7, 8) ORDER(0, 1) ORDER(3, 4) ORDER(6, 7) ORDER(1, 2) ORDER(4, 5) ORDER(7, 8)
    ORDER(0, 3) ORDER(5, 8) ORDER(4, 7) ORDER(3, 6) ORDER(1, 4) ORDER(2, 5) ORDER(4, 7) ORDER(4, 2) ORDER(6, 4)
    ORDER(4, 2)
    calm[y * w + x] = p[4];
}
