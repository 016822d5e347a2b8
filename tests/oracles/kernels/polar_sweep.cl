/* Radar sweeps to a map: each pixel finds its bearing and range and takes the echo there, with halves as storage. */

// kernelcast: global=(ceil_div(side,8)*8, ceil_div(side,8)*8) local=(8, 8) side=45 bearings=64 ranges=32 echo=bearings*ranges map=side*side name=s1
// kernelcast: global=(ceil_div(side,16)*16, side) local=(16, 1) side=30 bearings=90 ranges=100 echo=bearings*ranges map=side*side name=s2
// kernelcast: global=(64, 64) local=(32, 4) side=61 bearings=360 ranges=30 echo=bearings*ranges map=side*side name=s3
// kernelcast: global=(ceil_div(side,16)*16, ceil_div(side,8)*8) local=(16, 8) side=250 bearings=360 ranges=400 echo=bearings*ranges map=side*side name=measure
__kernel void polar_sweep(__global const half *restrict echo,
                          __global half *restrict map,
                          const int side,
                          const int bearings,
                          const int ranges)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= side || y >= side)
        return;
    const float2 from_middle = (float2)(x, y) + 0.5f - 0.5f * side;
    const float far = length(from_middle) * 2.0f * ranges / side;
    float seen = 0.0f;
    const int ring = (int)far;
    if (ring < ranges) {
        const float turn = atan2pi(from_middle.x, from_middle.y) * 0.5f + 0.5f;
        const int bearing = min((int)(turn * bearings), bearings - 1);
        seen = vload_half(bearing * ranges + ring, echo);
    }
    vstore_half_rte(seen, y * side + x, map);
}
