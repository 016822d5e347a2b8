/* Apparent altitude and azimuth of stars at one place and time, in double precision, with refraction near the horizon. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define DEG (M_PI / 180.0)

// kernelcast: global=ceil_div(stars,32)*32 local=32 stars=200 catalogue=stars seen=stars latitude=52.5 sidereal=123.4 fill.catalogue=uniform:0:90 name=s1
// kernelcast: global=ceil_div(stars,16)*16 local=16 stars=97 catalogue=stars seen=stars latitude=-30 sidereal=10 fill.catalogue=uniform:0:90 name=s2
// kernelcast: global=1024 local=64 stars=1000 catalogue=stars seen=stars latitude=10 sidereal=300 fill.catalogue=uniform:0:90 name=s3
// kernelcast: global=ceil_div(stars,64)*64 local=64 stars=40000 catalogue=stars seen=stars latitude=52.5 sidereal=123.4 fill.catalogue=uniform:0:90 name=measure
__kernel void star_trails(__global const double2 *restrict catalogue,
                          __global double2 *restrict seen,
                          const int stars,
                          const double latitude,
                          const double sidereal)
{
    const int i = get_global_id(0);
    if (i >= stars)
        return;
    const double hour = (sidereal - catalogue[i].x) * DEG;
    const double declination = catalogue[i].y * DEG;
    double cos_lat;
    const double sin_lat = sincos(latitude * DEG, &cos_lat);
    double altitude = asin(sin_lat * sin(declination) + cos_lat * cos(declination) * cos(hour));
    const double azimuth = atan2(-sin(hour) * cos(declination),
                                 cos_lat * sin(declination) - sin_lat * cos(declination) * cos(hour));
    altitude += 0.0167 * DEG / tan(fmax(altitude, 0.02) + 0.0055 / (fmax(altitude, 0.02) + 0.077));
    seen[i] = (double2)(altitude / DEG, azimuth / DEG);
}
