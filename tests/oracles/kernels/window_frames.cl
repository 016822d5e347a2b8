/* Cuts a signal into overlapping frames, each under a raised-cosine window; the window is computed as needed. */

// kernelcast: global=(length, frames) local=(32, 1) length=128 frames=6 hop=32 signal=(frames-1)*hop+length windowed=length*frames name=s1
// kernelcast: global=(length, frames) local=(16, 2) length=64 frames=20 hop=16 signal=(frames-1)*hop+length windowed=length*frames name=s2
// kernelcast: global=(length, frames) local=(25, 1) length=100 frames=9 hop=77 signal=(frames-1)*hop+length windowed=length*frames name=s3
// kernelcast: global=(length, frames) local=(64, 1) length=1024 frames=100 hop=256 signal=(frames-1)*hop+length windowed=length*frames name=measure
__kernel void window_frames(__global const float *restrict signal, __global float *restrict windowed, const int hop)
{
    const int k = get_global_id(0), frame = get_global_id(1), length = get_global_size(0);
    const float weight = 0.5f - 0.5f * cospi(2.0f * k / (length - 1));
    windowed[frame * length + k] = weight * signal[frame * hop + k];
}
