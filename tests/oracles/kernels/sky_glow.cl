/* Colour of a clear sky along the view direction: single scattering, summed over steps, in native functions. */

#define STEPS 8
#define SCALE_HEIGHT_KM 8.4f

// kernelcast: global=(ceil_div(W,8)*8, ceil_div(H,8)*8) local=(8, 8) W=30 H=20 sky=W*H width=W height=H sun.x=0.3 sun.y=0.9 sun.z=0.3 name=s1
// kernelcast: global=(ceil_div(W,16)*16, ceil_div(H,2)*2) local=(16, 2) W=17 H=41 sky=W*H width=W height=H sun.x=0 sun.y=1 sun.z=0 name=s2
// kernelcast: global=(48, 32) local=(4, 4) W=45 H=31 sky=W*H width=W height=H sun.x=0.7 sun.y=0.2 sun.z=0.7 name=s3
// kernelcast: global=(ceil_div(W,16)*16, ceil_div(H,8)*8) local=(16, 8) W=160 H=120 sky=W*H width=W height=H sun.x=0.3 sun.y=0.9 sun.z=0.3 name=measure
__kernel void sky_glow(__global float4 *sky, const int width, const int height, const float3 sun)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    const float azimuth = 2.0f * M_PI_F * x / width;
    const float altitude = 0.5f * M_PI_F * (height - y) / height;
    const float3 view = (float3)(native_cos(azimuth) * native_cos(altitude), native_sin(altitude),
                                 native_sin(azimuth) * native_cos(altitude));
    const float cosine = dot(view, sun);
    const float phase = 0.0597f * (1.0f + cosine * cosine);
    const float3 rayleigh = (float3)(0.0058f, 0.0135f, 0.0331f);

    float3 light = (float3)(0.0f);
    float depth = 0.0f;
    for (int i = 0; i < STEPS; i++) {
        const float km = (i + 0.5f) * 5.0f;
        const float density = native_exp(-km * view.y / SCALE_HEIGHT_KM);
        depth += density * 5.0f;
        light += native_exp(-rayleigh * depth) * density;
    }
    sky[y * width + x] = (float4)(light * rayleigh * phase * 20.0f, 1.0f);
}
