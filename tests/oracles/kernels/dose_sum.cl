/* Radiation dose of treatment beams in a body grid: what each beam leaves behind, attenuated with depth. */

#define BEAMS 3

typedef struct {
    float origin[3];
    float weight;
} beam_t;

typedef struct {
    beam_t beams[BEAMS];
    float attenuation;
    float voxel_cm;
} plan_t;

float deposit(const beam_t beam, const float3 at, const float attenuation)
{
    const float3 way = at - (float3)(beam.origin[0], beam.origin[1], beam.origin[2]);
    const float far = dot(way, way) + 1.0f;
    return beam.weight * native_exp(-attenuation * native_sqrt(far)) / far;
}

// kernelcast: global=(nx, ny, nz) local=(8, 4, 1) nx=16 ny=8 nz=6 plan=1 dose=nx*ny*nz fill.plan=uniform:0.05:0.3 name=s1
// kernelcast: global=(nx, ny, nz) local=(4, 4, 4) nx=12 ny=12 nz=8 plan=1 dose=nx*ny*nz fill.plan=uniform:0.05:0.3 name=s2
// kernelcast: global=(nx, ny, nz) local=(5, 1, 3) nx=25 ny=5 nz=9 plan=1 dose=nx*ny*nz fill.plan=uniform:0.05:0.3 name=s3
// kernelcast: global=(nx, ny, nz) local=(32, 2, 2) nx=64 ny=32 nz=32 plan=1 dose=nx*ny*nz fill.plan=uniform:0.05:0.3 name=measure
__kernel void dose_sum(__global const plan_t *restrict plan, __global float *restrict dose)
{
    const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const float3 at = plan->voxel_cm * (float3)(x, y, z);
    float sum = 0.0f;
    for (int b = 0; b < BEAMS; ++b)
        sum += deposit(plan->beams[b], at, plan->attenuation);
    dose[(z * get_global_size(1) + y) * get_global_size(0) + x] = sum;
}
