/* Fundamental tone of voice frames: the lag at which a frame differs least from itself, lags halved and doubled. */

#define FRAME 64

// kernelcast: global=frames local=8 frames=8 voice=frames*64+64 period=frames name=s1
// kernelcast: global=frames local=1 frames=3 voice=frames*64+64 period=frames name=s2
// kernelcast: global=frames local=5 frames=20 voice=frames*64+64 period=frames name=s3
// kernelcast: global=frames local=16 frames=2048 voice=frames*64+64 period=frames name=measure
__kernel void pitch_guess(__global const float *voice, __global float *period)
{
    __global const float *frame = voice + get_global_id(0) * FRAME;
    float least = MAXFLOAT;
    int best = 0;
    for (int lag = 8; lag < FRAME; lag += 4) {
        float difference = 0.0f;
        for (int k = 0; k < FRAME; ++k)
            difference += fabs(frame[k] - frame[k + lag]);
        if (difference < least) {
            least = difference;
            best = lag;
        }
    }
    period[get_global_id(0)] = best;
}
