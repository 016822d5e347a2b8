/* How wide each line of a text is set: advance widths from a table, and a kern between neighbours of certain classes. */

#define CLASSES 4

__constant short kerns[CLASSES][CLASSES] = {
    {0, -20, -35, 0},
    {-15, 0, -10, 5},
    {-40, -10, 0, 0},
    {0, 0, 12, 0},
};

// kernelcast: global=ceil_div(lines,16)*16 local=16 lines=50 columns=40 text=lines*columns advances=128 widths=lines units=1000 size_pt=11 fill.text=randint:32:127 fill.advances=randint:200:900 name=s1
// kernelcast: global=ceil_div(lines,32)*32 local=32 lines=100 columns=66 text=lines*columns advances=128 widths=lines units=2048 size_pt=9.5 fill.text=randint:32:127 fill.advances=randint:200:900 name=s2
// kernelcast: global=ceil_div(lines,8)*8 local=8 lines=21 columns=120 text=lines*columns advances=128 widths=lines units=1000 size_pt=24 fill.text=randint:32:127 fill.advances=randint:200:900 name=s3
// kernelcast: global=ceil_div(lines,32)*32 local=32 lines=20000 columns=80 text=lines*columns advances=128 widths=lines units=1000 size_pt=11 fill.text=randint:32:127 fill.advances=randint:200:900 name=measure
__kernel void line_widths(__global const uchar *text,
                          __constant ushort *advances,
                          __global float *widths,
                          const int lines,
                          const int columns,
                          const int units,
                          const float size_pt)
{
    const int line = get_global_id(0);
    if (line >= lines)
        return;

    __global const uchar *glyph = text + line * columns;
    int width = advances[glyph[0]];
    for (int i = 1; i < columns; ++i) {
        width += advances[glyph[i]];
        width += kerns[glyph[i - 1] & 3][glyph[i] & 3];
    }
    widths[line] = width * size_pt / units;
}
