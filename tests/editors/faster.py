"""Kernels that something can be gained from: what the tests of every editor tune, fix and cancel.

They are small, so that a test takes seconds; what is slow in them is slow by far, so that a busy machine sees it, too.
"""

from __future__ import annotations

# Without the loop that adds nothing it takes a fraction of the time; -DWAY=2 is fast and wrong.
SUM = """// kernelcast: global=N local=64 N=16384 x=N y=N -DWAY=0 tune.WAY=1,2
kernel void total(global const float *x, global float *y, int N)
{
    int i = get_global_id(0);
    float s = 0;
#if WAY == 0
    for (int k = 0; k < 400; ++k) s += x[(i * 97 + k * 1031) % N] * 0.0f;
#endif
    y[i] = s + x[i] * (WAY == 2 ? 3 : 2);
}
"""
SLOW_SUM = SUM.replace("400", "20000")  # to be cancelled in the middle of its turns
TUNED = "-DWAY=1"
WRITE = "Write this launch"  # the button

PLAIN = """// kernelcast: global=n local=256 n=65536
__kernel void blend(__global float *y, int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = 2.0f * y[i] + 1.0f;
}
"""

# Neighbouring work-items are a row apart; with its dimensions swapped, an element.
TURN = """// kernelcast: global=(1024, 2048) local=(64, 1) a=1024*2048 b=1024*2048 n=2048
__kernel void turn(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[x * n + y] * 3;
}
"""
TURNED = TURN.replace("(1024, 2048)", "(2048, 1024)").replace("(0), y = get_global_id(1)", "(1), y = get_global_id(0)")
SWAP = "Swap dimensions 0 and 1 of the kernel and its launch"
ENDLESS_TURN = TURN.replace("    b[x * n", "    while (a[0] < 1000000000) ;\n    b[x * n")
UNSURE = "taken back"  # what the message says where a fix was not proved to be faster
