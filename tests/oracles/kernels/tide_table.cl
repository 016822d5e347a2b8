/* Height of the tide at many hours from harmonic constituents in a constant table of structures. */

typedef struct {
    float amplitude_m, speed_deg_h, phase_deg;
} constituent_t;

__constant constituent_t harbour[] = {
    {1.62f, 28.984104f, 112.0f}, {0.55f, 30.0f, 148.5f}, {0.31f, 28.43973f, 87.2f}, {0.14f, 15.041069f, 210.9f},
    {0.12f, 13.943035f, 33.3f},  {0.08f, 57.96821f, 301.0f}, {0.05f, 14.958931f, 205.0f},
};

// kernelcast: global=ceil_div(hours,64)*64 local=64 hours=500 height=hours start_h=1000 step_h=0.1 name=s1
// kernelcast: global=ceil_div(hours,24)*24 local=24 hours=168 height=hours start_h=0 step_h=1 name=s2
// kernelcast: global=4096 local=256 hours=4000 height=hours start_h=8760 step_h=0.25 name=s3
// kernelcast: global=ceil_div(hours,64)*64 local=64 hours=50000 height=hours start_h=1000 step_h=0.1 name=measure
__kernel void tide_table(__global float *height, const int hours, const float start_h, const float step_h)
{
    const int i = get_global_id(0);
    if (i >= hours)
        return;
    const float t = start_h + i * step_h;
    float h = 2.1f;
    for (uint k = 0; k < sizeof(harbour) / sizeof(harbour[0]); ++k)
        h += harbour[k].amplitude_m * cos(radians(harbour[k].speed_deg_h * t - harbour[k].phase_deg));
    height[i] = h;
}
