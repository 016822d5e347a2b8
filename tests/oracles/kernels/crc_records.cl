/* Check sums of fixed-length records, half a byte at a time, from a table of sixteen entries. */

__constant uint nibble_table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static uint take_in(uint crc, const uchar byte)
{
    crc ^= byte;
    crc = (crc >> 4) ^ nibble_table[crc & 15];
    crc = (crc >> 4) ^ nibble_table[crc & 15];
    return crc;
}

// kernelcast: global=records local=32 records=96 length=48 data=records*length sums=records fill.data=randint:0:256 name=s1
// kernelcast: global=records local=16 records=16 length=300 data=records*length sums=records fill.data=randint:0:256 name=s2
// kernelcast: global=records local=64 records=512 length=9 data=records*length sums=records fill.data=randint:0:256 name=s3
// kernelcast: global=records local=64 records=16384 length=64 data=records*length sums=records fill.data=randint:0:256 name=measure
__kernel void crc_records(__global const uchar *data, __global uint *sums, uint length)
{
    uint crc = ~0u;
    __global const uchar *at = data + get_global_id(0) * length;
    while (length--)
        crc = take_in(crc, *at++);
    sums[get_global_id(0)] = ~crc;
}
