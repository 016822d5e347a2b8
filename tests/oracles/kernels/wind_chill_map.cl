/* What the wind makes of a temperature, where the formula holds; elsewhere the air's own. */

// kernelcast: global=n local=32 n=992 celsius=n km_h=n felt=n fill.celsius=uniform:-30:5 fill.km_h=uniform:10:90 name=s1
// kernelcast: global=n local=64 n=64 celsius=n km_h=n felt=n fill.celsius=uniform:-30:5 fill.km_h=uniform:10:90 name=s2
// kernelcast: global=n local=100 n=2500 celsius=n km_h=n felt=n fill.celsius=uniform:15:30 fill.km_h=uniform:10:90 name=s3
// kernelcast: global=n local=64 n=131072 celsius=n km_h=n felt=n fill.celsius=uniform:-30:40 fill.km_h=uniform:0:90 name=measure
__kernel void wind_chill_map(__global const float *restrict celsius,
                             __global const float *restrict km_h,
                             __global float *restrict felt)
{
    const uint i = get_global_id(0);
    const float t = celsius[i], v = km_h[i];
    float answer = t;
    if (t <= 10.0f && v >= 4.8f) {
        const float power = pow(v, 0.16f);
        answer = 13.12f + 0.6215f * t - 11.37f * power + 0.3965f * t * power;
    }
    felt[i] = answer;
}
