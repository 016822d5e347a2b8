/* Writes bytes as hexadecimal text, a line of sixteen to a work-item, with unprintable ones as dots behind. */

#define LINE 16
#define WIDE (3 * LINE + LINE + 2)

inline uchar digit(const uchar nibble)
{
    return nibble < 10 ? '0' + nibble : 'a' + nibble - 10;
}

// kernelcast: global=lines local=16 lines=48 data=lines*16 text=lines*66 fill.data=randint:0:256 name=s1
// kernelcast: global=lines local=8 lines=200 data=lines*16 text=lines*66 fill.data=randint:0:256 name=s2
// kernelcast: global=lines local=1 lines=5 data=lines*16 text=lines*66 fill.data=randint:0:256 name=s3
// kernelcast: global=lines local=64 lines=65536 data=lines*16 text=lines*66 fill.data=randint:0:256 name=measure
__kernel void hex_dump(__global const uchar *restrict data, __global uchar *restrict text)
{
    const size_t line = get_global_id(0);
    __global uchar *out = text + line * WIDE;
    for (int i = 0; i < LINE; ++i) {
        const uchar byte = data[line * LINE + i];
        out[3 * i] = digit(byte >> 4);
        out[3 * i + 1] = digit(byte & 0xf);
        out[3 * i + 2] = ' ';
        out[3 * LINE + 1 + i] = select((uchar)'.', byte, (uchar)(byte >= 32 && byte < 127 ? 0xff : 0));
    }
    out[3 * LINE] = ' ';
    out[WIDE - 1] = '\n';
}
