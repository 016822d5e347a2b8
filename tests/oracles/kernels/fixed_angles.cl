/* Sines in fixed point by rotating a vector through ever smaller angles: shifts and additions alone. */

#define TURNS 14

__constant int angles[TURNS] = {12867, 7596, 4013, 2037, 1022, 511, 255, 127, 63, 31, 15, 7, 3, 1};

// kernelcast: global=n local=32 n=256 angle=n sine=n fill.angle=randint:-12000:12000 name=s1
// kernelcast: global=n local=64 n=1024 angle=n sine=n fill.angle=randint:-12000:12000 name=s2
// kernelcast: global=n local=3 n=99 angle=n sine=n fill.angle=randint:-12000:12000 name=s3
// kernelcast: global=n local=128 n=262144 angle=n sine=n fill.angle=randint:-12000:12000 name=measure
__kernel void fixed_angles(__global const short *restrict angle, __global short2 *restrict sine)
{
    const size_t i = get_global_id(0);
    int x = 9949, y = 0, z = angle[i];
    for (int k = 0; k < TURNS; ++k) {
        const int sign_of = z >= 0 ? 1 : -1;
        const int turned = x - sign_of * (y >> k);
        y += sign_of * (x >> k);
        x = turned;
        z -= sign_of * angles[k];
    }
    sine[i] = convert_short2_sat((int2)(x, y));
}
