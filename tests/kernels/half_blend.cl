/* Fades one layer over another; layers are stored in half precision. Where the device computes in half, so does this;
 * elsewhere halves are widened on the way in and narrowed on the way out, which every device can. */

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half4 layer_t;
#define LOAD_LAYER(i, layer) vload4((i), (layer))
#define STORE_LAYER(value, i, layer) vstore4((value), (i), (layer))
#define SPREAD(x) ((half4)((half)(x)))
#else
typedef float4 layer_t;
#define LOAD_LAYER(i, layer) vload_half4((i), (layer))
#define STORE_LAYER(value, i, layer) vstore_half4((value), (i), (layer))
#define SPREAD(x) ((float4)(x))
#endif

// kernelcast: global=quads local=128 quads=262144 below=quads*4 above=quads*4 blended=quads*4 opacity=0.35
__kernel void half_blend(__global const half *restrict below,
                         __global const half *restrict above,
                         __global half *restrict blended,
                         const float opacity)
{
    const size_t i = get_global_id(0);
    const layer_t under = LOAD_LAYER(i, below);
    const layer_t over = LOAD_LAYER(i, above);
    STORE_LAYER(mix(under, over, SPREAD(opacity)), i, blended);
}
