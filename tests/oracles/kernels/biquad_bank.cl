/* A parametric equaliser: each channel runs through a cascade of second-order sections, sample by sample. */

#ifndef SECTIONS
#define SECTIONS 4
#endif

typedef struct {
    float b0, b1, b2, a1, a2;
} section_t;

// kernelcast: global=channels local=8 channels=16 frames=256 sections=channels*4 audio=channels*frames filtered=channels*frames -DSECTIONS=4 fill.sections=uniform:-0.2:0.2 name=s1
// kernelcast: global=channels local=4 channels=20 frames=100 sections=channels*2 audio=channels*frames filtered=channels*frames -DSECTIONS=2 fill.sections=uniform:-0.2:0.2 name=s2
// kernelcast: global=channels local=1 channels=7 frames=333 sections=channels*6 audio=channels*frames filtered=channels*frames -DSECTIONS=6 fill.sections=uniform:-0.2:0.2 name=s3
// kernelcast: global=channels local=8 channels=256 frames=1024 sections=channels*4 audio=channels*frames filtered=channels*frames -DSECTIONS=4 fill.sections=uniform:-0.2:0.2 name=measure
__kernel void biquad_bank(__global const section_t *sections,
                          __global const float *audio,
                          __global float *filtered,
                          const int frames)
{
    const int channel = get_global_id(0);
    const int channels = get_global_size(0);

    float z1[SECTIONS], z2[SECTIONS];
    for (int s = 0; s < SECTIONS; s++)
        z1[s] = z2[s] = 0.0f;

    for (int t = 0; t < frames; t++) {
        float x = audio[t * channels + channel]; /* interleaved, as sound cards want it */
        for (int s = 0; s < SECTIONS; s++) {
            const section_t f = sections[channel * SECTIONS + s];
            const float y = f.b0 * x + z1[s];
            z1[s] = f.b1 * x - f.a1 * y + z2[s];
            z2[s] = f.b2 * x - f.a2 * y;
            x = y;
        }
        filtered[t * channels + channel] = x;
    }
}
