/* Marbles in a box, one time step: gravity, drag, and walls that give back part of the speed. */

typedef struct {
    float4 position; /* w: radius */
    float4 velocity; /* w: unused */
} marble_t;

typedef struct {
    float time_step_s;
    float gravity_m_s2;
    float drag;
    float bounce;
    int count;
} world_t;

/* Keeps one coordinate within [radius, 1 - radius]; a marble that comes through a wall is mirrored at it. */
void reflect_at_walls(float *position, float *velocity, const float radius, const float bounce)
{
    const float low = radius, high = 1.0f - radius;
    if (*position < low) {
        *position = 2.0f * low - *position;
        *velocity = -bounce * *velocity;
    } else if (*position > high) {
        *position = 2.0f * high - *position;
        *velocity = -bounce * *velocity;
    }
}

// kernelcast: global=N local=64 N=262144 marbles=N world.time_step_s=0.002 world.gravity_m_s2=9.81 world.drag=0.1 world.bounce=0.8 world.count=N fill.marbles=uniform:0:1
__kernel void marbles_step(__global marble_t *marbles, const world_t world)
{
    const int i = get_global_id(0);
    if (i >= world.count)
        return;

    marble_t m = marbles[i];
    m.velocity.y -= world.gravity_m_s2 * world.time_step_s;
    m.velocity.xyz *= 1.0f - world.drag * world.time_step_s;
    m.position.xyz += m.velocity.xyz * world.time_step_s;

    float x = m.position.x, y = m.position.y, z = m.position.z;
    float vx = m.velocity.x, vy = m.velocity.y, vz = m.velocity.z;
    reflect_at_walls(&x, &vx, m.position.w, world.bounce);
    reflect_at_walls(&y, &vy, m.position.w, world.bounce);
    reflect_at_walls(&z, &vz, m.position.w, world.bounce);
    m.position.xyz = (float3)(x, y, z);
    m.velocity.xyz = (float3)(vx, vy, vz);
    marbles[i] = m;
}
