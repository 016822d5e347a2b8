/* Shaded relief for a map: the slope of a height grid in a 3 x 3 neighbourhood, lit from the north-west. */

// kernelcast: global=(ceil_div(columns,8)*8, ceil_div(rows,8)*8) local=(8, 8) columns=50 rows=30 heights=columns*rows shade=columns*rows cell_m=25 sun_azimuth=5.5 sun_altitude=0.785 name=s1
// kernelcast: global=(ceil_div(columns,16)*16, ceil_div(rows,4)*4) local=(16, 4) columns=33 rows=61 heights=columns*rows shade=columns*rows cell_m=10 sun_azimuth=5.5 sun_altitude=0.5 name=s2
// kernelcast: global=(64, 64) local=(32, 2) columns=57 rows=59 heights=columns*rows shade=columns*rows cell_m=90 sun_azimuth=5.5 sun_altitude=0.785 name=s3
// kernelcast: global=(ceil_div(columns,32)*32, ceil_div(rows,4)*4) local=(32, 4) columns=401 rows=251 heights=columns*rows shade=columns*rows cell_m=25 sun_azimuth=5.5 sun_altitude=0.785 name=measure
__kernel void hill_shade(__global const float *restrict heights,
                         __global uchar *restrict shade,
                         const int columns,
                         const int rows,
                         const float cell_m,
                         const float sun_azimuth,
                         const float sun_altitude)
{
    const int c = get_global_id(0), r = get_global_id(1);
    if (c < 1 || r < 1 || c >= columns - 1 || r >= rows - 1)
        return;

    __global const float *north = heights + (r - 1) * columns + c;
    __global const float *here = north + columns;
    __global const float *south = here + columns;
    const float east_west = (north[1] + 2.0f * here[1] + south[1] - north[-1] - 2.0f * here[-1] - south[-1]) / (8.0f * cell_m);
    const float north_south = (south[-1] + 2.0f * south[0] + south[1] - north[-1] - 2.0f * north[0] - north[1]) / (8.0f * cell_m);
    const float slope = atan(sqrt(east_west * east_west + north_south * north_south));
    const float aspect = atan2(north_south, -east_west);
    const float light = sin(sun_altitude) * cos(slope) + cos(sun_altitude) * sin(slope) * cos(sun_azimuth - aspect);
    shade[r * columns + c] = convert_uchar_sat(255.0f * light);
}
