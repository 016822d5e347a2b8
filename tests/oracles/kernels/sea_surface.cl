/* Heights and normals of a sea of travelling waves, on a grid; the waves' table is read through constant memory. */

typedef struct {
    float2 direction;
    float amplitude, number, frequency, steepness;
} wave_t;

// kernelcast: global=(n, n) local=(8, 8) n=24 waves=6 spectrum=waves surface=n*n normal=n*n time_s=3.5 cell_m=0.5 fill.spectrum=uniform:0.1:1 name=s1
// kernelcast: global=(n, n) local=(4, 4) n=40 waves=2 spectrum=waves surface=n*n normal=n*n time_s=10 cell_m=1 fill.spectrum=uniform:0.1:1 name=s2
// kernelcast: global=(n, n) local=(9, 1) n=9 waves=30 spectrum=waves surface=n*n normal=n*n time_s=0 cell_m=2 fill.spectrum=uniform:0.1:1 name=s3
// kernelcast: global=(n, n) local=(16, 8) n=128 waves=8 spectrum=waves surface=n*n normal=n*n time_s=3.5 cell_m=0.5 fill.spectrum=uniform:0.1:1 name=measure
__kernel void sea_surface(__constant wave_t *spectrum,
                          __global float *surface,
                          __global float4 *normal,
                          const int waves,
                          const float time_s,
                          const float cell_m)
{
    const int column = get_global_id(0), row = get_global_id(1);
    const float2 at = cell_m * (float2)(column, row);
    float height = 0.0f;
    float2 slope = (float2)(0.0f);
    for (int k = 0; k < waves; ++k) {
        const float phase = spectrum[k].number * dot(spectrum[k].direction, at) - spectrum[k].frequency * time_s;
        height += spectrum[k].amplitude * sin(phase);
        slope += spectrum[k].direction * (spectrum[k].number * spectrum[k].amplitude * cos(phase));
    }
    const int here = row * get_global_size(0) + column;
    surface[here] = height;
    normal[here] = (float4)(normalize((float3)(-slope.x, 1.0f, -slope.y)), 0.0f);
}
