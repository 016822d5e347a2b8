/* A half-band low-pass of 15 taps (Hann window), as every other tap of one but the middle is zero. */
#ifndef TAPS_H
#define TAPS_H

#define TAP_COUNT 15
#define SAMPLE_OR_ZERO(signal, i, n) ((i) >= 0 && (i) < (n) ? (signal)[i] : 0.0f)

__constant float taps[TAP_COUNT] = {
    -0.00173f, 0.0f, 0.01964f, 0.0f, -0.08124f, 0.0f, 0.31333f, 0.5f,
    0.31333f, 0.0f, -0.08124f, 0.0f, 0.01964f, 0.0f, -0.00173f,
};

#endif
