/* Packed 24-bit audio to floats: three bytes a sample, sign-extended by shifting up and down again. */

// kernelcast: global=ceil_div(samples,64)*64 local=64 samples=1500 packed=samples*3 pcm=samples fill.packed=randint:0:256 name=s1
// kernelcast: global=ceil_div(samples,16)*16 local=16 samples=333 packed=samples*3 pcm=samples fill.packed=randint:0:256 name=s2
// kernelcast: global=3072 local=256 samples=3000 packed=samples*3 pcm=samples fill.packed=randint:0:256 name=s3
// kernelcast: global=ceil_div(samples,128)*128 local=128 samples=1500000 packed=samples*3 pcm=samples fill.packed=randint:0:256 name=measure
__kernel void unpack_samples(__global const uchar *restrict packed, __global float *restrict pcm, const uint samples)
{
    const uint i = get_global_id(0);
    if (i >= samples)
        return;
    const uchar3 bytes = vload3(i, packed);
    const int value = (int)((uint)bytes.x << 8 | (uint)bytes.y << 16 | (uint)bytes.z << 24) >> 8;
    pcm[i] = value * (1.0f / 8388608.0f);
}
