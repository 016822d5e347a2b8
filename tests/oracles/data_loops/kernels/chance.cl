/* Random numbers of generators inside the kernel decide when its loops end. */

#define COUNT(place)

uint xorshift(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

float uniform01(uint *state) { return (xorshift(state) >> 8) * 0x1p-24f; }

// kernelcast: global=n local=64 n=2048 points=n seed=17 name=disc
__kernel void in_disc(__global float2 *points, const uint seed)
{
    uint state = (get_global_id(0) + 1) * 747796405u + seed;
    float2 p;
    do {
        COUNT(in_disc_try);
        p.x = 2.0f * uniform01(&state) - 1.0f;
        p.y = 2.0f * uniform01(&state) - 1.0f;
    } while (dot(p, p) > 1.0f);
    points[get_global_id(0)] = p;
}

// kernelcast: global=n local=32 n=512 steps=n seed=5 radius=9 name=near
// kernelcast: global=n local=32 n=256 steps=n seed=5 radius=20 name=far
__kernel void walk_until_out(__global int *steps, const uint seed, const int radius)
{
    uint state = (get_global_id(0) + 1) * 2891336453u ^ seed;
    int2 at = (int2)(0, 0);
    int n = 0;
    while (at.x * at.x + at.y * at.y < radius * radius) {
        COUNT(walk_until_out_step);
        const uint turn = xorshift(&state) >> 30;
        if (turn & 1)
            at.x += turn & 2 ? 1 : -1;
        else
            at.y += turn & 2 ? 1 : -1;
        n++;
    }
    steps[get_global_id(0)] = n;
}

// kernelcast: global=n local=64 n=1536 throws=n reach=n fill.throws=uniform:5:40 name=thrown
// kernelcast: global=n local=64 n=1024 throws=n reach=n name=plain
__kernel void until_ground(__global const float2 *throws, __global float *reach)
{
    const int i = get_global_id(0);
    float2 place = (float2)(0.0f, 1.5f), speed = throws[i];
    while (place.y > 0.0f) {
        COUNT(until_ground_step);
        const float drag = 0.02f * length(speed);
        speed -= 0.02f * (drag * speed + (float2)(0.0f, 9.81f));
        place += 0.02f * speed;
    }
    reach[i] = place.x;
}

// kernelcast: global=n local=32 n=416 rounds=n start=12 goal=30 name=fair
__kernel void until_ruin(__global int *rounds, const int start, const int goal)
{
    ulong state = get_global_id(0) * 6364136223846793005ul + 1442695040888963407ul;
    int coins = start, n = 0;
    while (coins > 0 && coins < goal) {
        COUNT(until_ruin_round);
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        coins += (state >> 63) ? 1 : -1;
        n++;
    }
    rounds[get_global_id(0)] = n;
}

int poisson(float mean, uint *state)
{
    const float least = exp(-mean);
    int k = 0;
    for (float product = uniform01(state); product > least; product *= uniform01(state)) {
        COUNT(poisson_factor);
        k++;
    }
    return k;
}

// kernelcast: global=n local=64 n=1216 means=n arrivals=n fill.means=uniform:0.5:12 name=wide
// kernelcast: global=n local=64 n=1216 means=n arrivals=n name=plain
__kernel void arrivals_each(__global const float *means, __global int *arrivals)
{
    const int i = get_global_id(0);
    uint state = i * 1664525u + 1013904223u;
    arrivals[i] = poisson(means[i], &state);
}

// kernelcast: global=n local=32 n=640 weights=64 chosen=n fill.weights=skewed:1:100 name=skewed
__kernel void choose_by_weight(__constant float *weights, __global int *chosen)
{
    uint state = (get_global_id(0) + 7) * 277803737u;
    float most = 0.0f;
    for (int k = 0; k < 64; k++)
        most = fmax(most, weights[k]);
    for (;;) {
        COUNT(choose_by_weight_try);
        const int k = xorshift(&state) >> 26;
        if (uniform01(&state) * most <= weights[k]) {
            chosen[get_global_id(0)] = k;
            return;
        }
    }
}
