// Where the bytes lie: gathers, strides, structures, tables.

// kernelcast: global=n local=64 n=2097152 order=n cards=n dealt=n fill.order=perm name=far
// kernelcast: global=n local=64 n=8192 order=n cards=n dealt=n fill.order=perm name=near
__kernel void deal(__global const int *restrict order, __global const float *restrict cards,
                   __global float *restrict dealt)
{
    const int i = get_global_id(0);
    dealt[i] = cards[order[i]];
}

// kernelcast: global=n local=64 n=1048576 order=n cards=n sorted=n fill.order=perm
__kernel void put_back(__global const int *restrict order, __global const float *restrict cards,
                       __global float *restrict sorted)
{
    const int i = get_global_id(0);
    sorted[order[i]] = cards[i];
}

// kernelcast: global=n local=128 n=1048576 pixels=n curve=256 shown=n
__kernel void tone_curve(__global const uchar *restrict pixels, __constant const float *restrict curve,
                         __global float *restrict shown)
{
    const int i = get_global_id(0);
    shown[i] = curve[pixels[i]];
}

// kernelcast: global=n local=64 n=524288 log=n*7 picked=n
__kernel void every_seventh(__global const float *restrict log, __global float *restrict picked)
{
    const int i = get_global_id(0);
    picked[i] = log[i * 7];
}

// kernelcast: global=(W, H) local=(16, 16) W=1024 H=1024 page=W*H turned=W*H width=W height=H name=power_of_two
// kernelcast: global=(W, H) local=(8, 8) W=1000 H=1000 page=W*H turned=W*H width=W height=H name=odd
// kernelcast: global=(W, H) local=(1, 64) W=512 H=512 page=W*H turned=W*H width=W height=H name=upright
__kernel void turn_page(__global const float *restrict page, __global float *restrict turned, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    turned[x * height + y] = page[y * width + x];
}

// kernelcast: global=n local=128 n=524288 red=n green=n blue=n packed=n*3
__kernel void pack_colour(__global const uchar *restrict red, __global const uchar *restrict green,
                          __global const uchar *restrict blue, __global uchar *restrict packed)
{
    const int i = get_global_id(0);
    packed[3 * i] = red[i];
    packed[3 * i + 1] = green[i];
    packed[3 * i + 2] = blue[i];
}

typedef struct {
    float x, y, vx, vy;
    float age;
    int kind;
} spark_t;

// kernelcast: global=n local=64 n=131072 sparks=n dt=0.01 fill.sparks=uniform:0:1
__kernel void fly_sparks(__global spark_t *sparks, float dt)
{
    const int i = get_global_id(0);
    spark_t s = sparks[i];
    s.vy -= 9.81f * dt;
    s.x += s.vx * dt;
    s.y += s.vy * dt;
    s.age += dt;
    if (s.y < 0.0f) {
        s.y = -s.y;
        s.vy *= -0.6f;
    }
    sparks[i] = s;
}

// kernelcast: global=(W, H) local=(64, 1) W=1024 H=512 sharp=W*(H+8) soft=W*H width=W
__kernel void soften_down(__global const float *restrict sharp, __global float *restrict soft, int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < 9; ++k)
        sum += sharp[(y + k) * width + x] * 0.11f;
    soft[y * width + x] = sum;
}

// kernelcast: global=(N, N, N) local=(32, 4, 1) N=128 heat=N*N*N next=N*N*N n=N rate=0.1
__kernel void heat_block(__global const float *restrict heat, __global float *restrict next, int n, float rate)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    const int i = (z * n + y) * n + x;
    next[i] = heat[i] + rate * (heat[i - 1] + heat[i + 1] + heat[i - n] + heat[i + n] + heat[i - n * n]
                                + heat[i + n * n] - 6.0f * heat[i]);
}

// kernelcast: global=(W, H) local=(16, 16) W=640 H=400 map=1024*1024 view=W*H width=W turn=0.3 zoom=0.9
__kernel void turn_map(__global const float *restrict map, __global float *restrict view, int width, float turn, float zoom)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float u = zoom * (x - turn * y) + 300.0f, v = zoom * (y + turn * x) + 200.0f;
    const int left = clamp((int)u, 0, 1022), top = clamp((int)v, 0, 1022);
    const float fx = u - left, fy = v - top;
    const int at = top * 1024 + left;
    const float above = mix(map[at], map[at + 1], fx), below = mix(map[at + 1024], map[at + 1025], fx);
    view[y * width + x] = mix(above, below, fy);
}

// kernelcast: global=n local=64 n=65536 size=65536 table=size wanted=n place=n fill.table=iota fill.wanted=randint:0:65536
__kernel void look_up(__global const int *restrict table, __global const int *restrict wanted,
                      __global int *restrict place, int size)
{
    const int i = get_global_id(0);
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (table[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

// kernelcast: global=n local=64 n=131072 a=n*16 b=n*16 same=n
__kernel void same_vectors(__global const uchar16 *restrict a, __global const uchar16 *restrict b,
                           __global int *restrict same)
{
    const int i = get_global_id(0);
    same[i] = all(a[i] == b[i]);
}

// kernelcast: global=n local=64 n=262144 text=n+4 keys=n
__kernel void four_letters(__global const uchar *restrict text, __global uint *restrict keys)
{
    const int i = get_global_id(0);
    keys[i] = text[i] | text[i + 1] << 8 | text[i + 2] << 16 | (uint)text[i + 3] << 24;
}

// kernelcast: global=n local=64 n=1048576 hue=n bins=4096 fill.hue=randint:0:4096 fill.bins=zeros
__kernel void many_bins(__global const int *restrict hue, volatile __global int *bins)
{
    atomic_inc(&bins[hue[get_global_id(0)]]);
}

// kernelcast: global=n local=64 n=262144 level=n alarms=1 limit=0.5 fill.alarms=zeros
__kernel void count_alarms(__global const float *restrict level, volatile __global int *alarms, float limit)
{
    if (level[get_global_id(0)] > limit)
        atomic_inc(alarms);
}
