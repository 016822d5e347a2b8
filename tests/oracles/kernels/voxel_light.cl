/* Light in a block world spreads to neighbours and fades by one a step; stone stays dark. Three dimensions. */

#define AT(x, y, z) (((z) * sy + (y)) * sx + (x))
#define STONE 1

// kernelcast: global=(ceil_div(sx,8)*8, ceil_div(sy,4)*4, sz) local=(8, 4, 1) sx=14 sy=9 sz=8 blocks=sx*sy*sz light=sx*sy*sz next=sx*sy*sz fill.blocks=zeros fill.light=randint:0:16 name=s1
// kernelcast: global=(ceil_div(sx,4)*4, ceil_div(sy,4)*4, ceil_div(sz,4)*4) local=(4, 4, 4) sx=10 sy=10 sz=10 blocks=sx*sy*sz light=sx*sy*sz next=sx*sy*sz fill.blocks=const:0 fill.light=randint:0:16 name=s2
// kernelcast: global=(32, 8, 8) local=(32, 1, 1) sx=27 sy=7 sz=8 blocks=sx*sy*sz light=sx*sy*sz next=sx*sy*sz fill.blocks=zeros fill.light=randint:0:16 name=s3
// kernelcast: global=(ceil_div(sx,32)*32, ceil_div(sy,2)*2, sz) local=(32, 2, 1) sx=90 sy=80 sz=64 blocks=sx*sy*sz light=sx*sy*sz next=sx*sy*sz fill.blocks=zeros fill.light=randint:0:16 name=measure
__kernel void voxel_light(__global const uchar *restrict blocks,
                          __global const uchar *restrict light,
                          __global uchar *restrict next,
                          const int sx,
                          const int sy,
                          const int sz)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= sx || y >= sy || z >= sz)
        return;
    const int here = AT(x, y, z);
    if (blocks[here] == STONE) {
        next[here] = 0;
        return;
    }
    int brightest = 0;
    if (x > 0)      brightest = max(brightest, (int)light[here - 1]);
    if (x < sx - 1) brightest = max(brightest, (int)light[here + 1]);
    if (y > 0)      brightest = max(brightest, (int)light[here - sx]);
    if (y < sy - 1) brightest = max(brightest, (int)light[here + sx]);
    if (z > 0)      brightest = max(brightest, (int)light[here - sx * sy]);
    if (z < sz - 1) brightest = max(brightest, (int)light[here + sx * sy]);
    next[here] = (uchar)max((int)light[here], brightest - 1);
}
