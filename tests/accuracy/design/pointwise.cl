// One work-item, one element: what functions, types and plain streams cost.

// kernelcast: global=n local=64 n=262144 temperature_c=n wind_km_h=n felt_c=n fill.wind_km_h=uniform:5:100
__kernel void wind_chill(__global const float *restrict temperature_c, __global const float *restrict wind_km_h,
                         __global float *restrict felt_c)
{
    const int i = get_global_id(0);
    const float power = pow(wind_km_h[i], 0.16f);
    felt_c[i] = 13.12f + 0.6215f * temperature_c[i] - 11.37f * power + 0.3965f * temperature_c[i] * power;
}

// kernelcast: global=n local=128 n=524288 height_m=n pressure_hpa=n scale_m=8434 fill.height_m=uniform:0:4000
__kernel void air_pressure(__global const float *restrict height_m, __global float *restrict pressure_hpa,
                           float scale_m)
{
    const int i = get_global_id(0);
    pressure_hpa[i] = 1013.25f * exp(-height_m[i] / scale_m);
}

// kernelcast: global=n local=64 n=131072 hour_angle=n latitude=n elevation=n declination=0.3 fill.latitude=uniform:-1:1
__kernel void sun_elevation(__global const float *restrict hour_angle, __global const float *restrict latitude,
                            __global float *restrict elevation, float declination)
{
    const int i = get_global_id(0);
    const float s = sin(latitude[i]) * sin(declination) + cos(latitude[i]) * cos(declination) * cos(hour_angle[i]);
    elevation[i] = asin(s);
}

// kernelcast: global=n local=128 n=262144 value=n decibel=n fill.value=uniform:0.1:10
__kernel void to_decibel(__global const float *restrict value, __global float *restrict decibel, int n)
{
    const int i = get_global_id(0);
    if (i < n)
        decibel[i] = 20.0f * log10(value[i]) + log1p(value[i]);
}

// kernelcast: global=n local=64 n=131072 east=n north=n bearing=n fill.east=uniform:-1:1 fill.north=uniform:-1:1
__kernel void bearing_of(__global const float *restrict east, __global const float *restrict north,
                         __global float *restrict bearing)
{
    const int i = get_global_id(0);
    bearing[i] = atan2(east[i], north[i]) + tanh(hypot(east[i], north[i]));
}

// kernelcast: global=n local=256 n=4194304 celsius=n fahrenheit=n name=far
// kernelcast: global=n local=256 n=65536 celsius=n fahrenheit=n name=near
// kernelcast: global=n local=8 n=262144 celsius=n fahrenheit=n name=small_groups
// kernelcast: global=n local=1 n=32768 celsius=n fahrenheit=n name=lone_items
// kernelcast: global=n local=64 n=256 celsius=n fahrenheit=n name=tiny
__kernel void to_fahrenheit(__global const float *restrict celsius, __global float *restrict fahrenheit)
{
    const int i = get_global_id(0);
    fahrenheit[i] = celsius[i] * 1.8f + 32.0f;
}

// kernelcast: global=n local=64 n=2097152 drums=n*4 bass=n*4 voice=n*4 mixed=n*4 gain=0.3 name=far
// kernelcast: global=n local=64 n=65536 drums=n*4 bass=n*4 voice=n*4 mixed=n*4 gain=0.3 name=near
__kernel void mix_tracks(__global const float4 *restrict drums, __global const float4 *restrict bass,
                         __global const float4 *restrict voice, __global float4 *restrict mixed, float gain)
{
    const int i = get_global_id(0);
    mixed[i] = clamp((drums[i] + bass[i] + voice[i]) * gain, -1.0f, 1.0f);
}

// kernelcast: global=n local=256 n=16777216 canvas=n colour=7
__kernel void flood(__global uint *restrict canvas, uint colour)
{
    canvas[get_global_id(0)] = colour;
}

// kernelcast: global=n local=128 n=2097152 grey=n dark=n offset=40
__kernel void darken(__global const uchar *restrict grey, __global uchar *restrict dark, int offset)
{
    const int i = get_global_id(0);
    dark[i] = convert_uchar_sat(grey[i] - offset);
}

// kernelcast: global=n local=64 n=262144 words=n digests=n
__kernel void stir_words(__global const uint *restrict words, __global uint *restrict digests)
{
    const int i = get_global_id(0);
    uint h = words[i];
#pragma unroll
    for (int round = 0; round < 12; ++round) {
        h ^= h << 13;
        h = rotate(h, 5u) + 0x9e3779b9u;
        h ^= h >> 7;
        h *= 0x85ebca6bu;
    }
    digests[i] = h;
}

// kernelcast: global=n local=64 n=131072 x=n y=n fill.x=uniform:-1:1
__kernel void smooth_series(__global const double *restrict x, __global double *restrict y)
{
    const int i = get_global_id(0);
    const double t = x[i];
    double sum = 0.01;
    for (int k = 0; k < 14; ++k)
        sum = sum * t + 0.25;
    y[i] = sum / (1.0 + t * t);
}

// kernelcast: global=n local=64 n=524288 mass=n volume=n density=n fill.volume=uniform:1:2
__kernel void density_of(__global const float *restrict mass, __global const float *restrict volume,
                         __global float *restrict density)
{
    const int i = get_global_id(0);
    const float v = volume[i];
    density[i] = sqrt(mass[i] / v) + rsqrt(v) / (mass[i] + 3.0f);
}

// kernelcast: global=n local=64 n=262144 days=n dates=n year_days=365 fill.days=randint:0:40000
__kernel void calendar(__global const int *restrict days, __global int *restrict dates, int year_days)
{
    const int i = get_global_id(0);
    const int year = days[i] / year_days, day = days[i] % year_days;
    dates[i] = year * 10000 + (day / 31 + 1) * 100 + day % 31 + 1;
}

// kernelcast: global=n local=64 n=65536 ticket=n place=n modulus=1000003 fill.ticket=randint:1:1000000
__kernel void ticket_place(__global const ulong *restrict ticket, __global ulong *restrict place, ulong modulus)
{
    const int i = get_global_id(0);
    ulong p = ticket[i];
    p = p * p % modulus;
    p = p * ticket[i] % modulus;
    place[i] = p;
}

// kernelcast: global=n local=128 n=262144 distance=n glow=n fill.distance=uniform:0:3
__kernel void glow_of(__global const float *restrict distance, __global float *restrict glow)
{
    const int i = get_global_id(0);
    glow[i] = native_exp(-distance[i]) * (1.0f + 0.1f * native_sin(distance[i] * 12.0f)) + native_rsqrt(distance[i] + 1);
}

// kernelcast: global=n local=64 n=262144 packed=n*4 level=n
__kernel void level_of(__global const half *restrict packed, __global float *restrict level)
{
    const int i = get_global_id(0);
    const float4 v = vload_half4(i, packed);
    level[i] = dot(v, v);
}

// kernelcast: global=n local=64 n=131072 normals=n*4 light=n*4 shade=n fill.normals=uniform:0.1:1 fill.light=uniform:0.1:1
__kernel void lambert(__global const float4 *restrict normals, __global const float4 *restrict light,
                      __global float *restrict shade)
{
    const int i = get_global_id(0);
    const float3 n = normalize(normals[i].xyz);
    shade[i] = fmax(0.0f, dot(n, normalize(light[i].xyz)));
}

// kernelcast: global=n local=64 n=262144 speed=n fine=n limit=0.5
__kernel void speeding_fine(__global const float *restrict speed, __global float *restrict fine, float limit)
{
    const int i = get_global_id(0);
    const float over = speed[i] - limit;
    if (over <= 0.0f)
        fine[i] = 0.0f;
    else if (over < 0.1f)
        fine[i] = 30.0f + over * 100.0f;
    else
        fine[i] = exp2(over * 8.0f) * 25.0f;
}
