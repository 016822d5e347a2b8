/* Random walks of pollen in water, with a small generator per grain; the walk ends where it leaves the dish. */

static float draw(uint *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (*state >> 8) * (1.0f / 16777216.0f) - 0.5f;
}

// kernelcast: global=grains local=32 grains=64 seeds=grains ends=grains steps=30 dish=1000 fill.seeds=randint:1:1000000 name=s1
// kernelcast: global=grains local=10 grains=130 seeds=grains ends=grains steps=12 dish=1000 fill.seeds=randint:1:1000000 name=s2
// kernelcast: global=grains local=64 grains=128 seeds=grains ends=grains steps=50 dish=900 fill.seeds=randint:1:1000000 name=s3
// kernelcast: global=grains local=64 grains=32768 seeds=grains ends=grains steps=50 dish=1000 fill.seeds=randint:1:1000000 name=measure
__kernel void pollen_walk(__global const uint *seeds, __global float2 *ends, const int steps, const float dish)
{
    uint state = seeds[get_global_id(0)];
    float2 at = (float2)(0.0f, 0.0f);
    for (int step = 0; step < steps; ++step) {
        at.x += draw(&state);
        at.y += draw(&state);
        if (dot(at, at) > dish * dish)
            break;
    }
    ends[get_global_id(0)] = at;
}
