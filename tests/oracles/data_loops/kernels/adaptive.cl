/* Work that is refined until it is good enough, in one item or in a whole group. */

#define COUNT(place)

float integrand(float x, float sharp) { return 1.0f / (sharp * sharp + (x - 0.3f) * (x - 0.3f)); }

// kernelcast: global=n local=16 n=304 sharpness=n integrals=n fill.sharpness=uniform:0.02:0.5 name=peaks
// kernelcast: global=n local=16 n=304 sharpness=n integrals=n name=plain
__kernel void quadrature(__global const float *sharpness, __global float *integrals)
{
    float2 todo[32];
    int used = 0;
    const float sharp = sharpness[get_global_id(0)];
    float sum = 0.0f;
    todo[used++] = (float2)(0.0f, 1.0f);
    while (used > 0) {
        COUNT(quadrature_interval);
        const float2 part = todo[--used];
        const float middle = 0.5f * (part.x + part.y), width = part.y - part.x;
        const float a = integrand(part.x, sharp), m = integrand(middle, sharp), b = integrand(part.y, sharp);
        const float coarse = 0.5f * width * (a + b), fine = 0.25f * width * (a + 2.0f * m + b);
        if (fabs(fine - coarse) < 0.002f || used > 28) {
            sum += fine;
        } else {
            COUNT(quadrature_split);
            todo[used++] = (float2)(part.x, middle);
            todo[used++] = (float2)(middle, part.y);
        }
    }
    integrals[get_global_id(0)] = sum;
}

// kernelcast: global=n local=32 n=512 stiffness=n ends=n fill.stiffness=uniform:1:30 name=stiff
__kernel void step_control(__global const float *stiffness, __global float *ends)
{
    const float k = stiffness[get_global_id(0)];
    float t = 0.0f, y = 1.0f, step = 0.5f;
    while (t < 2.0f) {
        COUNT(step_control_try);
        const float slope = -k * (y - cos(t));
        const float whole = y + step * slope;
        const float middle = y + 0.5f * step * slope;
        const float twice = middle - 0.5f * step * k * (middle - cos(t + 0.5f * step));
        const float error = fabs(twice - whole);
        if (error > 0.004f) {
            COUNT(step_control_again);
            step *= 0.5f;
            continue;
        }
        t += step;
        y = twice;
        if (error < 0.001f)
            step *= 1.5f;
    }
    ends[get_global_id(0)] = y;
}

#define CELLS 64

// kernelcast: global=groups*64 local=64 groups=10 values=64*groups rounds=groups tolerance=0.01 fill.values=uniform:0:1 name=relaxed
__kernel void relax_until_calm(__global float *values, __global int *rounds, const float tolerance)
{
    __local float cells[CELLS];
    __local int restless;
    const int lane = get_local_id(0), i = get_global_id(0);
    cells[lane] = values[i];
    int n = 0;
    do {
        COUNT(relax_until_calm_round);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0)
            restless = 0;
        const float left = cells[max(lane - 1, 0)], right = cells[min(lane + 1, CELLS - 1)], own = cells[lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        const float next = 0.25f * left + 0.5f * own + 0.25f * right;
        cells[lane] = next;
        if (fabs(next - own) > tolerance)
            restless = 1;
        n++;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (restless);
    values[i] = cells[lane];
    if (lane == 0)
        rounds[get_group_id(0)] = n;
}

// kernelcast: global=(8*groups, 8) local=(8, 8) groups=24 seeds=64*groups generations=groups fill.seeds=randint:0:3 name=third
// kernelcast: global=(8*groups, 8) local=(8, 8) groups=24 seeds=64*groups generations=groups name=plain
__kernel void settle_cells(__global const int *seeds, __global int *generations)
{
    __local uchar alive[2][64];
    __local int changes;
    const int x = get_local_id(0), y = get_local_id(1), own = 8 * y + x, group = get_group_id(0);
    alive[0][own] = seeds[64 * group + own] == 1;
    int now = 0, n = 0;
    for (;;) {
        COUNT(settle_cells_generation);
        if (own == 0)
            changes = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        int around = 0;
        if (x > 0) around += alive[now][own - 1];
        if (x < 7) around += alive[now][own + 1];
        if (y > 0) around += alive[now][own - 8];
        if (y < 7) around += alive[now][own + 8];
        const uchar next = alive[now][own] || around >= 2;
        alive[1 - now][own] = next;
        if (next != alive[now][own]) {
            COUNT(settle_cells_birth);
            atomic_inc(&changes);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        now = 1 - now;
        n++;
        if (changes == 0)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own == 0)
        generations[group] = n;
}

// kernelcast: global=n local=16 n=160 matrices=9*n sides=3*n rounds=n fill.matrices=uniform:0:1 fill.sides=uniform:-1:1 name=random
__kernel void solve_in_place(__global const float *matrices, __global const float *sides, __global int *rounds)
{
    const int i = get_global_id(0);
    float m[9], x[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 9; k++)
        m[k] = matrices[9 * i + k] + (k % 4 == 0 ? 2.2f : 0.0f);
    int n = 0;
    float moved = 1.0f;
    while (moved > 1e-5f && n < 100) {
        COUNT(solve_in_place_round);
        moved = 0.0f;
        for (int row = 0; row < 3; row++) {
            float sum = sides[3 * i + row];
            for (int column = 0; column < 3; column++)
                if (column != row)
                    sum -= m[3 * row + column] * x[column];
            const float next = sum / m[4 * row];
            moved = fmax(moved, fabs(next - x[row]));
            x[row] = next;
        }
        n++;
    }
    rounds[i] = n;
}
