// Loops: what decides their length, and whether iterations wait for each other.

// kernelcast: global=n local=64 n=65536 charge=n steps=200 keep=0.995 gain=0.01
__kernel void capacitor(__global float *restrict charge, int steps, float keep, float gain)
{
    const int i = get_global_id(0);
    float q = charge[i];
    for (int k = 0; k < steps; ++k)
        q = q * keep + gain;
    charge[i] = q;
}

// kernelcast: global=n local=64 n=16384 seed=n steps=n limit=500 fill.seed=uniform:0:1
__kernel void escape_steps(__global const float *restrict seed, __global int *restrict steps, int limit)
{
    const int i = get_global_id(0);
    float x = 0.0f, y = seed[i];
    int k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        const float next = x * x - y * y + 0.3f;
        y = 2.0f * x * y + seed[i];
        x = next;
        ++k;
    }
    steps[i] = k;
}

// kernelcast: global=n local=64 n=65536 a=n b=n common=n fill.a=randint:1:100000 fill.b=randint:1:100000
__kernel void common_divisor(__global const int *restrict a, __global const int *restrict b,
                             __global int *restrict common)
{
    const int i = get_global_id(0);
    int x = a[i], y = b[i];
    while (y != 0) {
        const int rest = x % y;
        x = y;
        y = rest;
    }
    common[i] = x;
}

// kernelcast: global=n local=64 n=262144 codes=n mirrored=n
__kernel void mirror_bits(__global const uint *restrict codes, __global uint *restrict mirrored)
{
    const int i = get_global_id(0);
    uint v = codes[i], r = 0;
    for (int bit = 0; bit < 32; ++bit) {
        r = (r << 1) | (v & 1);
        v >>= 1;
    }
    mirrored[i] = r;
}

// kernelcast: global=n local=64 n=65536 x=n y=n coefficients=degree+1 degree=24 fill.x=uniform:-1:1
__kernel void horner(__global const float *restrict x, __global float *restrict y,
                     __constant const float *restrict coefficients, int degree)
{
    const int i = get_global_id(0);
    float sum = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k)
        sum = sum * x[i] + coefficients[k];
    y[i] = sum;
}

// kernelcast: global=n local=128 n=262144 price=n+2*radius trend=n radius=12
__kernel void moving_average(__global const float *restrict price, __global float *restrict trend, int radius)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += price[i + k];
    trend[i] = sum / (2 * radius + 1);
}

// kernelcast: global=rows local=64 rows=4096 columns=512 sales=rows*columns total=rows
__kernel void row_totals(__global const float *restrict sales, __global float *restrict total, int columns)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < columns; ++k)
        sum += sales[row * columns + k];
    total[row] = sum;
}

// kernelcast: global=columns local=64 rows=512 columns=4096 sales=rows*columns total=columns
__kernel void column_totals(__global const float *restrict sales, __global float *restrict total, int rows, int columns)
{
    const int column = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < rows; ++k)
        sum += sales[k * columns + column];
    total[column] = sum;
}

// kernelcast: global=n local=64 n=8192 m=256 houses=n*2 masts=m*2 nearest=n
__kernel void nearest_mast(__global const float2 *restrict houses, __global const float2 *restrict masts,
                           __global float *restrict nearest, int m)
{
    const int i = get_global_id(0);
    const float2 home = houses[i];
    float best = 1e30f;
    for (int k = 0; k < m; ++k) {
        const float2 d = masts[k] - home;
        best = fmin(best, d.x * d.x + d.y * d.y);
    }
    nearest[i] = sqrt(best);
}

// kernelcast: global=n local=64 n=4096 m=1000 ages=m limits=n younger=n fill.ages=randint:0:100 fill.limits=randint:0:100
__kernel void count_younger(__global const int *restrict ages, __global const int *restrict limits,
                            __global int *restrict younger, int m)
{
    const int i = get_global_id(0);
    int count = 0;
    for (int k = 0; k < m; ++k)
        count += ages[k] < limits[i];
    younger[i] = count;
}

// kernelcast: global=n local=64 n=16384 throws=256 hits=n
__kernel void dart_board(__global int *restrict hits, int throws)
{
    uint state = get_global_id(0) * 747796405u + 1u;
    int inside = 0;
    for (int k = 0; k < throws; ++k) {
        state = state * 1664525u + 1013904223u;
        const float x = (state >> 8) * 5.96e-8f;
        state = state * 1664525u + 1013904223u;
        const float y = (state >> 8) * 5.96e-8f;
        if (x * x + y * y < 1.0f)
            ++inside;
    }
    hits[get_global_id(0)] = inside;
}

// kernelcast: global=(W, H) local=(16, 8) W=512 H=512 terrain=(W+4)*(H+4) rough=W*H width=W
__kernel void roughness(__global const float *restrict terrain, __global float *restrict rough, int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float low = 1e30f, high = -1e30f;
    for (int dy = 0; dy < 5; ++dy)
        for (int dx = 0; dx < 5; ++dx) {
            const float h = terrain[(y + dy) * (width + 4) + x + dx];
            low = fmin(low, h);
            high = fmax(high, h);
        }
    rough[y * width + x] = high - low;
}

// kernelcast: global=n local=64 n=131072 area=n side=n fill.area=uniform:1:100
__kernel void side_of(__global const float *restrict area, __global float *restrict side)
{
    const int i = get_global_id(0);
    float s = area[i] * 0.5f;
    for (int k = 0; k < 6; ++k)
        s = 0.5f * (s + area[i] / s);
    side[i] = s;
}

// kernelcast: global=n local=64 n=8192 height=n range=n bounces=40 fill.height=uniform:1:10
__kernel void bouncing(__global const float *restrict height, __global float *restrict range, int bounces)
{
    const int i = get_global_id(0);
    float h = height[i], way = 0.0f;
    for (int k = 0; k < bounces; ++k) {
        way += sqrt(h) * sin(0.3f + 0.01f * k);
        h *= 0.8f;
    }
    range[i] = way;
}

// kernelcast: global=n local=64 n=16384 first=n+1 load=n*20 truck=n fill.first=csr_rows:n*20
__kernel void truck_loads(__global const int *restrict first, __global const float *restrict load,
                          __global float *restrict truck)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = first[i]; k < first[i + 1]; ++k)
        sum += load[k];
    truck[i] = sum;
}

// kernelcast: global=n local=64 n=4096 weight=n steps=64 fill.weight=uniform:0.5:1
__kernel void drift_double(__global double *restrict weight, int steps)
{
    const int i = get_global_id(0);
    double a = weight[i], b = 0.5, c = 0.25;
    for (int k = 0; k < steps; ++k) {
        a = a * 0.99 + b * 0.01;
        b = b * 0.98 + c * 0.02;
        c = c * 0.97 + a * 0.03;
    }
    weight[i] = a + b + c;
}

// kernelcast: global=n local=64 n=262144 every=n*8 kept=n stride=8
__kernel void totals_in_place(__global const float *restrict every, __global float *restrict kept, int stride)
{
    const int i = get_global_id(0);
    kept[i] = 0.0f;
    for (int k = 0; k < stride; ++k)
        kept[i] += every[i * stride + k];
}
