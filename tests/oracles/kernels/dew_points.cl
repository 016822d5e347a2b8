/* Dew point and heat index of a weather station's log, in X-macros: one table makes fields, loads and sums. */

#define STATIONS \
    STATION(north) \
    STATION(south) \
    STATION(ridge)

#define STATION(name) __global const float2 *restrict name,

// kernelcast: global=ceil_div(hours,16)*16 local=16 hours=90 north=hours south=hours ridge=hours dew=hours fill.north=uniform:5:60 fill.south=uniform:5:60 fill.ridge=uniform:5:60 name=s1
// kernelcast: global=ceil_div(hours,64)*64 local=64 hours=720 north=hours south=hours ridge=hours dew=hours fill.north=uniform:5:60 fill.south=uniform:5:60 fill.ridge=uniform:5:60 name=s2
// kernelcast: global=512 local=32 hours=365 north=hours south=hours ridge=hours dew=hours fill.north=uniform:5:60 fill.south=uniform:5:60 fill.ridge=uniform:5:60 name=s3
// kernelcast: global=ceil_div(hours,64)*64 local=64 hours=87600 north=hours south=hours ridge=hours dew=hours fill.north=uniform:5:60 fill.south=uniform:5:60 fill.ridge=uniform:5:60 name=measure
__kernel void dew_points(STATIONS __global float *restrict dew, const int hours)
#undef STATION
{
    const int hour = get_global_id(0);
    if (hour >= hours)
        return;
    float sum = 0.0f;
#define STATION(name) \
    { \
        const float2 reading = name[hour]; \
        const float gamma = native_log(reading.y * 0.01f) + 17.62f * reading.x / (243.12f + reading.x); \
        sum += 243.12f * gamma / (17.62f - gamma); \
    }
    STATIONS
#undef STATION
    dew[hour] = sum / 3.0f;
}
