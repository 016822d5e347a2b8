/* Paper for a drawing programme: value noise in several octaves, each of twice the frequency and half the strength. */

static uint knead(uint h)
{
    h ^= h >> 16;
    h = h * 0x7feb352du;
    h ^= h >> 15;
    return h * 0x846ca68bu;
}

static float corner(const int2 cell)
{
    return (knead((uint)cell.x + 7919u * (uint)cell.y) >> 8) * (1.0f / 16777216.0f);
}

static float smooth_noise(const float2 at)
{
    const float2 floored = floor(at);
    const int2 cell = convert_int2(floored);
    const float2 part = at - floored;
    const float2 w = part * part * (3.0f - 2.0f * part);
    const float upper = mix(corner(cell), corner(cell + (int2)(1, 0)), w.x);
    const float lower = mix(corner(cell + (int2)(0, 1)), corner(cell + (int2)(1, 1)), w.x);
    return mix(upper, lower, w.y);
}

// kernelcast: global=(w, h) local=(8, 4) w=32 h=16 paper=w*h octaves=4 scale=0.1 name=s1
// kernelcast: global=(w, h) local=(16, 1) w=16 h=33 paper=w*h octaves=6 scale=0.05 name=s2
// kernelcast: global=(w, h) local=(6, 6) w=42 h=30 paper=w*h octaves=1 scale=0.5 name=s3
// kernelcast: global=(w, h) local=(32, 4) w=256 h=192 paper=w*h octaves=5 scale=0.1 name=measure
__kernel void paper_grain(__global float *paper, const int octaves, const float scale)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float2 at = scale * (float2)(x, y);
    float sum = 0.0f, strength = 0.5f;
    for (int octave = 0; octave < octaves; ++octave) {
        sum += strength * smooth_noise(at);
        at *= 2.0f;
        strength *= 0.5f;
    }
    paper[y * get_global_size(0) + x] = sum;
}
