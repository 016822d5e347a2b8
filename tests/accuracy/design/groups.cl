// Work-groups that share: local memory, barriers, private arrays.

// kernelcast: global=n local=256 n=1048576 depth=n deepest=n//256
__kernel void deepest_of(__global const float *restrict depth, __global float *restrict deepest)
{
    __local float best[256];
    const int lane = get_local_id(0);
    best[lane] = depth[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (lane < s)
            best[lane] = fmax(best[lane], best[lane + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        deepest[get_group_id(0)] = best[0];
}

// kernelcast: global=n local=128 n=262144 rain=n so_far=n
__kernel void rain_so_far(__global const int *restrict rain, __global int *restrict so_far)
{
    __local int sums[2][128];
    const int lane = get_local_id(0), size = get_local_size(0);
    int from = 0;
    sums[0][lane] = rain[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < size; step *= 2) {
        sums[1 - from][lane] = sums[from][lane] + (lane >= step ? sums[from][lane - step] : 0);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    so_far[get_global_id(0)] = sums[from][lane];
}

// kernelcast: global=(W, H) local=(16, 16) W=1024 H=1024 page=W*H turned=W*H width=W height=H
__kernel void turn_tiles(__global const float *restrict page, __global float *restrict turned, int width, int height)
{
    __local float tile[16][17];
    const int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = page[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    turned[(get_group_id(0) * 16 + ly) * height + get_group_id(1) * 16 + lx] = tile[lx][ly];
}

// kernelcast: global=n local=64 n=4096 stars=n pull=n fill.stars=uniform:0:1
__kernel void star_pull(__global const float *restrict stars, __global float *restrict pull, int n)
{
    __local float near[64];
    const int lane = get_local_id(0);
    const float own = stars[get_global_id(0)];
    float sum = 0.0f;
    for (int first = 0; first < n; first += 64) {
        near[lane] = stars[first + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 64; ++k) {
            const float d = near[k] - own;
            sum += d / (d * d + 0.01f);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    pull[get_global_id(0)] = sum;
}

// kernelcast: global=groups*128 local=128 groups=32 count=524288 marks=count tally=groups*16 fill.marks=randint:0:16
__kernel void tally_marks(__global const int *restrict marks, __global int *restrict tally, int count)
{
    __local int own[16];
    const int lane = get_local_id(0);
    if (lane < 16)
        own[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&own[marks[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 16)
        tally[get_group_id(0) * 16 + lane] = own[lane];
}

// kernelcast: global=n local=64 n=65536 noisy=n+8 calm=n
__kernel void middle_of_nine(__global const float *restrict noisy, __global float *restrict calm)
{
    const int i = get_global_id(0);
    float v[9];
    for (int k = 0; k < 9; ++k)
        v[k] = noisy[i + k];
    for (int a = 1; a < 9; ++a) {
        const float x = v[a];
        int b = a;
        while (b > 0 && v[b - 1] > x) {
            v[b] = v[b - 1];
            --b;
        }
        v[b] = x;
    }
    calm[i] = v[4];
}

// kernelcast: global=n local=64 n=32768 letters=n*16 counts=n fill.letters=randint:0:32
__kernel void busiest_letter(__global const uchar *restrict letters, __global int *restrict counts)
{
    const int i = get_global_id(0);
    int seen[32];
    for (int k = 0; k < 32; ++k)
        seen[k] = 0;
    for (int k = 0; k < 16; ++k)
        seen[letters[i * 16 + k] & 31]++;
    int best = 0;
    for (int k = 0; k < 32; ++k)
        best = max(best, seen[k]);
    counts[i] = best;
}

// kernelcast: global=n local=128 n=262144 wave=n+8 echo=n
__kernel void echo(__global const float *restrict wave, __global float *restrict echo)
{
    __local float near[136];
    const int lane = get_local_id(0);
    near[lane] = wave[get_global_id(0)];
    if (lane < 8)
        near[128 + lane] = wave[get_global_id(0) + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k)
        sum += near[lane + k] * (0.5f - 0.05f * k);
    echo[get_global_id(0)] = sum;
}

// kernelcast: global=groups*64 local=64 groups=64 count=1048576 samples=count loudest=groups name=few_groups
// kernelcast: global=groups*64 local=64 groups=1024 count=4194304 samples=count loudest=groups name=many_groups
__kernel void loudest(__global const float *restrict samples, __global float *restrict loudest, int count)
{
    __local float best[64];
    const int lane = get_local_id(0);
    float own = 0.0f;
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        own = fmax(own, fabs(samples[i]));
    best[lane] = own;
    for (int s = 32; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < s)
            best[lane] = fmax(best[lane], best[lane + s]);
    }
    if (lane == 0)
        loudest[get_group_id(0)] = best[0];
}
