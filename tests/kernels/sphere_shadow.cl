/* Renders spheres under one lamp: each pixel follows its ray to the nearest sphere, then looks for the lamp. */

typedef struct {
    float4 centre; /* w: radius */
    float4 colour;
} sphere_t;

/* Distance along the ray to the sphere; negative when the ray misses it. */
float hit_distance(const float3 origin, const float3 way, __constant const sphere_t *sphere)
{
    const float3 across = sphere->centre.xyz - origin;
    const float nearest = dot(across, way);
    const float inside = sphere->centre.w * sphere->centre.w - dot(across, across) + nearest * nearest;
    return inside < 0.0f ? -1.0f : nearest - sqrt(inside);
}

// kernelcast: global=(W, H) local=(8, 8) W=256 H=192 spheres=count picture=W*H count=24 lamp_x=3 lamp_y=9 lamp_z=-4 fill.spheres=uniform:0.1:1
__kernel void sphere_shadow(__constant const sphere_t *spheres,
                            __global float4 *restrict picture,
                            const int count,
                            const float lamp_x,
                            const float lamp_y,
                            const float lamp_z)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float2 pixel = (float2)(x + 0.5f, y + 0.5f) / get_global_size(0);
    const float3 eye = (float3)(0.5f, 0.5f, -2.0f);
    const float3 way = normalize((float3)(pixel, 0.0f) - eye);

    int hit = -1;
    float closest = INFINITY;
    for (int s = 0; s < count; ++s) {
        const float d = hit_distance(eye, way, &spheres[s]);
        if (d > 0.0f && d < closest) {
            closest = d;
            hit = s;
        }
    }
    float4 colour = (float4)(0.1f, 0.1f, 0.2f, 1.0f);
    if (hit >= 0) {
        const float3 surface = eye + closest * way;
        const float3 normal = (surface - spheres[hit].centre.xyz) / spheres[hit].centre.w;
        const float3 to_lamp = normalize((float3)(lamp_x, lamp_y, lamp_z) - surface);
        float light = fmax(dot(normal, to_lamp), 0.0f);
        for (int s = 0; s < count; ++s) {
            if (hit_distance(surface + 1e-3f * normal, to_lamp, &spheres[s]) > 0.0f) {
                light = 0.0f;
                break;
            }
        }
        colour = spheres[hit].colour * (0.15f + 0.85f * light);
    }
    picture[y * get_global_size(0) + x] = colour;
}
