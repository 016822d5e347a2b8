/* Divergence and rotation of a wind field kept as one array of structures, inside the rim of the map. */

typedef struct {
    float east, north;
    short station;
    uchar quality, spare;
} wind_t;

// kernelcast: global=(w-2, h-2) local=(8, 4) w=34 h=22 wind=w*h divergence=w*h rotation=w*h km=2 name=s1
// kernelcast: global=(w-2, h-2) local=(16, 2) w=18 h=64 wind=w*h divergence=w*h rotation=w*h km=1 name=s2
// kernelcast: global=(w-2, h-2) local=(3, 3) w=50 h=35 wind=w*h divergence=w*h rotation=w*h km=0.5 name=s3
// kernelcast: global=(w-2, h-2) local=(32, 4) w=514 h=402 wind=w*h divergence=w*h rotation=w*h km=2 name=measure
__kernel void wind_field(__global const wind_t *restrict wind,
                         __global float *restrict divergence,
                         __global float *restrict rotation,
                         const int w,
                         const float km)
{
    const int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    const int at = y * w + x;
    const float scale = 0.5f / km;
    const float east_by_x = wind[at + 1].east - wind[at - 1].east;
    const float north_by_y = wind[at + w].north - wind[at - w].north;
    const float north_by_x = wind[at + 1].north - wind[at - 1].north;
    const float east_by_y = wind[at + w].east - wind[at - w].east;
    divergence[at] = scale * (east_by_x + north_by_y);
    rotation[at] = scale * (north_by_x - east_by_y);
}
