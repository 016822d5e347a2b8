/* Planets around a fixed sun, several leap-frog steps in registers; constants come in by value in one structure. */

struct orbit {
    float mass_product;
    float step;
    int steps;
};

// kernelcast: global=planets local=32 planets=96 position=planets velocity=planets o.mass_product=1 o.step=0.001 o.steps=20 fill.position=uniform:1:2 fill.velocity=uniform:-0.5:0.5 name=s1
// kernelcast: global=planets local=7 planets=70 position=planets velocity=planets o.mass_product=2 o.step=0.01 o.steps=35 fill.position=uniform:1:2 fill.velocity=uniform:-0.5:0.5 name=s2
// kernelcast: global=planets local=64 planets=256 position=planets velocity=planets o.mass_product=1 o.step=0.001 o.steps=5 fill.position=uniform:1:2 fill.velocity=uniform:-0.5:0.5 name=s3
// kernelcast: global=planets local=64 planets=16384 position=planets velocity=planets o.mass_product=1 o.step=0.0001 o.steps=40 fill.position=uniform:1:2 fill.velocity=uniform:-0.5:0.5 name=measure
__kernel void leap_frog(__global float3 *position, __global float3 *velocity, const struct orbit o)
{
    const int i = get_global_id(0);
    float3 x = position[i], v = velocity[i];
    for (int s = 0; s < o.steps; ++s) {
        x += v * (0.5f * o.step);
        const float r2 = dot(x, x);
        v -= x * (o.mass_product * o.step / (r2 * sqrt(r2)));
        x += v * (0.5f * o.step);
    }
    position[i] = x;
    velocity[i] = v;
}
