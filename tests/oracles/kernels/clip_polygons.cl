/* Clips triangles at a plane: cases by which corners are inside, and an area for each. */

// kernelcast: global=ceil_div(n,32)*32 local=32 n=200 corners=n*3 area=n level=0.0 fill.corners=uniform:0.5:1 name=s1
// kernelcast: global=ceil_div(n,64)*64 local=64 n=333 corners=n*3 area=n level=2.0 fill.corners=uniform:0:1 name=s2
// kernelcast: global=ceil_div(n,16)*16 local=16 n=150 corners=n*3 area=n level=0.5 fill.corners=uniform:0:1 name=s3
// kernelcast: global=ceil_div(n,64)*64 local=64 n=200000 corners=n*3 area=n level=0.5 fill.corners=uniform:0:1 name=measure
__kernel void clip_polygons(__global const float *restrict corners, __global float *restrict area, const int n, const float level)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const float low = corners[3 * i], mid = corners[3 * i + 1], high = corners[3 * i + 2];
    const int inside = (low > level) + (mid > level) * 2 + (high > level) * 4;
    float share;
    switch (inside) {
    case 0:
        area[i] = 0.0f;
        return;
    case 7:
        share = 1.0f;
        break;
    case 1: {
        const float t = (low - level) / (low - mid), u = (low - level) / (low - high);
        share = t * u;
        break;
    }
    case 2: {
        const float t = (mid - level) / (mid - low), u = (mid - level) / (mid - high);
        share = t * u;
        break;
    }
    case 4: {
        const float t = (high - level) / (high - low), u = (high - level) / (high - mid);
        share = t * u;
        break;
    }
    default:
        share = 0.75f;
    }
    area[i] = 0.5f * share;
}
