/* Loops that end when a value has converged, or has left for good. */

#define COUNT(place)

// kernelcast: global=(W, H) local=(16, 8) W=128 H=96 iterations=W*H limit=400 left=-2.2 top=-1.2 scale=0.025 name=whole
// kernelcast: global=(W, H) local=(8, 8) W=96 H=96 iterations=W*H limit=1000 left=-0.8 top=0.1 scale=0.0009 name=edge
__kernel void escape_while(__global int *iterations, const int limit, const float left, const float top, const float scale)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    const float cr = left + scale * x, ci = top + scale * y;
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (zr * zr + zi * zi <= 4.0f && n < limit) {
        COUNT(escape_while_step);
        const float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        ++n;
    }
    iterations[y * w + x] = n;
}

// kernelcast: global=(W, H) local=(16, 4) W=112 H=80 colour=W*H limit=256 name=julia
__kernel void escape_break(__global float *colour, const int limit)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    float2 z = (float2)(3.2f * x / w - 1.6f, 2.4f * y / get_global_size(1) - 1.2f);
    int n;
    for (n = 0; n < limit; n++) {
        COUNT(escape_break_step);
        const float2 square = z * z;
        if (square.x + square.y > 4.0f)
            break;
        z = (float2)(square.x - square.y - 0.74f, 2.0f * z.x * z.y + 0.15f);
    }
    colour[y * w + x] = n == limit ? 0.0f : n + 1.0f - log2(log2(dot(z, z)));
}

// kernelcast: global=(W, H) W=100 H=75 depth=W*H most=150 name=ship
__kernel void escape_do(__global ushort *depth, const ushort most)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float cr = -2.2f + 3.4f * x / get_global_size(0), ci = -1.9f + 2.6f * y / get_global_size(1);
    float a = cr, b = ci;
    ushort n = 0;
    do {
        COUNT(escape_do_step);
        const float t = fabs(a * b);
        a = a * a - b * b + cr;
        b = 2.0f * t + ci;
    } while (++n < most && a * a + b * b < 16.0f);
    depth[y * get_global_size(0) + x] = n;
}

// kernelcast: global=n local=64 n=4096 values=n roots=n fill.values=uniform:0.001:100000 name=wide
// kernelcast: global=n local=32 n=1024 values=n roots=n name=plain
__kernel void newton_root(__global const float *values, __global float *roots)
{
    const int i = get_global_id(0);
    const float a = values[i];
    float x = a, change;
    do {
        COUNT(newton_root_step);
        const float next = 0.5f * (x + a / x);
        change = fabs(next - x);
        x = next;
    } while (change > 1e-5f * x);
    roots[i] = x;
}

float kepler_error(float anomaly, float e, float mean) { return anomaly - e * sin(anomaly) - mean; }

float kepler_bisect(float low, float high, float e, float mean, float tolerance)
{
    for (;;) {
        COUNT(kepler_halving);
        const float middle = 0.5f * (low + high);
        if (high - low < tolerance)
            return middle;
        if (kepler_error(middle, e, mean) > 0.0f)
            high = middle;
        else
            low = middle;
    }
}

// kernelcast: global=n local=64 n=2048 mean=n anomaly=n tolerance=0.0001 fill.mean=uniform:0:3.1 name=fine
// kernelcast: global=n local=64 n=2048 mean=n anomaly=n tolerance=0.03 fill.mean=uniform:0:3.1 name=coarse
__kernel void kepler(__global const float *mean, __global float *anomaly, const float tolerance)
{
    const int i = get_global_id(0);
    anomaly[i] = kepler_bisect(0.0f, 3.2f, 0.4f, mean[i], tolerance);
}

// kernelcast: global=n local=32 n=1504 matrices=n eigenvalues=n fill.matrices=uniform:0.1:2 name=spread
// kernelcast: global=n local=32 n=640 matrices=n eigenvalues=n name=plain
__kernel void power_iteration(__global const float4 *matrices, __global float *eigenvalues)
{
    const int i = get_global_id(0);
    const float4 m = matrices[i];
    float2 v = (float2)(0.8f, 0.6f);
    float value = 0.0f, before;
    int left = 200;
    do {
        COUNT(power_iteration_step);
        before = value;
        const float2 w = (float2)(dot(m.xy, v), dot(m.zw, v));
        value = length(w);
        v = w / value;
    } while (fabs(value - before) > 1e-5f * value && --left);
    eigenvalues[i] = value;
}

// kernelcast: global=n local=64 n=3008 x=n result=n fill.x=uniform:0.2:30 name=wide
__kernel void tail_fraction(__global const float *x, __global float *result)
{
    const int i = get_global_id(0);
    const float b = x[i];
    float f = b, c = b, d = 0.0f;
    for (int n = 1; n < 500; n++) {
        COUNT(tail_fraction_step);
        const float a = 0.5f * n;
        d = 1.0f / (b + a * d);
        c = b + a / c;
        const float delta = c * d;
        f *= delta;
        if (fabs(delta - 1.0f) < 2e-6f)
            break;
    }
    result[i] = 1.0f / f;
}

double exponential(double x)
{
    double sum = 1.0, term = 1.0;
    for (int n = 1; ; ++n) {
        COUNT(exponential_term);
        term *= x / n;
        sum += term;
        if (fabs(term) < 1e-12 * sum)
            return sum;
    }
}

// kernelcast: global=n local=16 n=912 x=n y=n fill.x=uniform:0:20 name=large
// kernelcast: global=n local=16 n=320 x=n y=n name=plain
__kernel void series(__global const double *x, __global double *y)
{
    y[get_global_id(0)] = exponential(x[get_global_id(0)]);
}

// kernelcast: global=n local=64 n=2048 axes=n around=n fill.axes=uniform:0.01:50 name=wide
__kernel void mean_of_means(__global const float2 *axes, __global float *around)
{
    const int i = get_global_id(0);
    float a = fmax(axes[i].x, axes[i].y), b = fmin(axes[i].x, axes[i].y);
    while (a - b > 1e-5f * a) {
        COUNT(mean_of_means_step);
        const float middle = 0.5f * (a + b);
        b = sqrt(a * b);
        a = middle;
    }
    around[i] = a;
}
