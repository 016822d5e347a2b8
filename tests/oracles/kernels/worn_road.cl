/* Weathering of a height profile: slopes steeper than the angle of rest slide down, for a number of passes. */

// kernelcast: global=profiles local=8 profiles=16 width=64 passes=2 height=profiles*width rest=0.2 fill.height=const:1 name=s1
// kernelcast: global=profiles local=1 profiles=5 width=100 passes=6 height=profiles*width rest=0.1 fill.height=const:0.5 name=s2
// kernelcast: global=profiles local=10 profiles=30 width=33 passes=3 height=profiles*width rest=0.2 fill.height=uniform:0:1 name=s3
// kernelcast: global=profiles local=16 profiles=1024 width=256 passes=4 height=profiles*width rest=0.2 fill.height=uniform:0:1 name=measure
__kernel void worn_road(__global float *height, const int width, const int passes, const float rest)
{
    __global float *h = height + get_global_id(0) * width;
    for (int pass = 0; pass < passes; ++pass) {
        for (int x = 0; x < width - 1; ++x) {
            const float slope = h[x + 1] - h[x];
            if (fabs(slope) <= rest)
                continue;
            const float slides = 0.25f * (slope - copysign(rest, slope));
            h[x] += slides;
            h[x + 1] -= slides;
        }
    }
}
