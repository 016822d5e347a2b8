/* Drafts a woven cloth: which thread is on top at each crossing, from threading, treadling and tie-up. */

// kernelcast: global=(ceil_div(warp,16)*16, ceil_div(weft,4)*4) local=(16, 4) warp=50 weft=30 threading=warp treadling=weft tie_up=8 cloth=warp*weft fill.threading=randint:0:8 fill.treadling=randint:0:8 fill.tie_up=randint:0:256 name=s1
// kernelcast: global=(ceil_div(warp,8)*8, ceil_div(weft,8)*8) local=(8, 8) warp=33 weft=65 threading=warp treadling=weft tie_up=8 cloth=warp*weft fill.threading=randint:0:8 fill.treadling=randint:0:8 fill.tie_up=randint:0:256 name=s2
// kernelcast: global=(64, 64) local=(64, 1) warp=60 weft=63 threading=warp treadling=weft tie_up=8 cloth=warp*weft fill.threading=randint:0:8 fill.treadling=randint:0:8 fill.tie_up=randint:0:256 name=s3
// kernelcast: global=(ceil_div(warp,32)*32, ceil_div(weft,4)*4) local=(32, 4) warp=1000 weft=801 threading=warp treadling=weft tie_up=8 cloth=warp*weft fill.threading=randint:0:8 fill.treadling=randint:0:8 fill.tie_up=randint:0:256 name=measure
__kernel void weave_pattern(__global const uchar *restrict threading,
                            __global const uchar *restrict treadling,
                            __constant uchar *tie_up,
                            __global uchar *restrict cloth,
                            const int warp,
                            const int weft)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < warp && y < weft)
        cloth[mad24(y, warp, x)] = (tie_up[treadling[y]] >> threading[x]) & 1 ? 'X' : '.';
}
