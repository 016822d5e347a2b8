/* Distances along great circles from one harbour to many ships: the haversine formula in precise functions. */

#define EARTH_RADIUS_KM 6371.0088f

// kernelcast: global=ceil_div(ships,64)*64 local=64 ships=1000 places=ships km=ships home_lat=53.5 home_lon=9.9 fill.places=uniform:-80:80 name=s1
// kernelcast: global=ceil_div(ships,32)*32 local=32 ships=333 places=ships km=ships home_lat=-33.9 home_lon=18.4 fill.places=uniform:-80:80 name=s2
// kernelcast: global=2048 local=128 ships=1999 places=ships km=ships home_lat=1.3 home_lon=103.8 fill.places=uniform:-80:80 name=s3
// kernelcast: global=ceil_div(ships,64)*64 local=64 ships=200000 places=ships km=ships home_lat=53.5 home_lon=9.9 fill.places=uniform:-80:80 name=measure
__kernel void great_circle(__global const float2 *restrict places,
                           __global float *restrict km,
                           const uint ships,
                           const float home_lat,
                           const float home_lon)
{
    const uint i = get_global_id(0);
    if (i >= ships)
        return;

    const float2 here = radians(places[i]);
    const float lat = radians(home_lat);
    const float half_lat = sin((here.x - lat) * 0.5f);
    const float half_lon = sin((here.y - radians(home_lon)) * 0.5f);
    const float h = half_lat * half_lat + cos(lat) * cos(here.x) * half_lon * half_lon;
    km[i] = 2.0f * EARTH_RADIUS_KM * asin(sqrt(fmin(h, 1.0f)));
}
