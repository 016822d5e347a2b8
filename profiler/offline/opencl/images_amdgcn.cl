// Source: "RDNA3 Instruction Set Architecture", section 10 (vector memory image instructions); the same in GCN and CDNA1.
// An image's handle points to its descriptor of 8 words, and behind that lie its order and data type.
typedef __constant uint *kc_handle;
typedef uint kc_words4 __attribute__((ext_vector_type(4)));
typedef uint kc_words8 __attribute__((ext_vector_type(8)));
#define KC_RESOURCE(h) (*(__constant kc_words8 *)(h))
#define KC_SAMPLING(h) (*(__constant kc_words4 *)(h))
__constant kc_words4 kc_samplers[64] = {0};
#define kc_constant_sampler(sampler) ((kc_handle)&kc_samplers[(sampler) & 63])

// Arguments: channels, coordinates, descriptor, (sampler, unnormalised,) fault flags, cache policy.
float4 kc_image_load_1d(uint, int, kc_words8, uint, uint) __asm("llvm.amdgcn.image.load.1d.v4f32.i32.v8i32");
float4 kc_image_load_2d(uint, int, int, kc_words8, uint, uint) __asm("llvm.amdgcn.image.load.2d.v4f32.i32.v8i32");
float4 kc_image_load_3d(uint, int, int, int, kc_words8, uint, uint) __asm("llvm.amdgcn.image.load.3d.v4f32.i32.v8i32");
// CDNA2 has no sampling with a given level of detail; see `kc_plain_samples` in `profiler/offline/clang.py`.
extern __constant int kc_plain_samples;
#define KC_ARGUMENTS(...) (uint, __VA_ARGS__, kc_words8, kc_words4, bool, uint, uint)
float4 kc_image_sample_1d KC_ARGUMENTS(float) __asm("llvm.amdgcn.image.sample.1d.v4f32.f32.v8i32.v4i32");
float4 kc_image_sample_2d KC_ARGUMENTS(float, float) __asm("llvm.amdgcn.image.sample.2d.v4f32.f32.v8i32.v4i32");
float4 kc_image_sample_3d KC_ARGUMENTS(float, float, float) __asm("llvm.amdgcn.image.sample.3d.v4f32.f32.v8i32.v4i32");
float4 kc_image_lz_1d KC_ARGUMENTS(float) __asm("llvm.amdgcn.image.sample.lz.1d.v4f32.f32.v8i32.v4i32");
float4 kc_image_lz_2d KC_ARGUMENTS(float, float) __asm("llvm.amdgcn.image.sample.lz.2d.v4f32.f32.v8i32.v4i32");
float4 kc_image_lz_3d KC_ARGUMENTS(float, float, float) __asm("llvm.amdgcn.image.sample.lz.3d.v4f32.f32.v8i32.v4i32");
#define KC_SAMPLED(D, im, s, ...) \
  (kc_plain_samples ? kc_image_sample_##D(15, __VA_ARGS__, KC_RESOURCE(im), KC_SAMPLING(s), false, 0, 0) \
                    : kc_image_lz_##D(15, __VA_ARGS__, KC_RESOURCE(im), KC_SAMPLING(s), false, 0, 0))
void kc_image_store_1d(float4, uint, int, kc_words8, uint, uint) __asm("llvm.amdgcn.image.store.1d.v4f32.i32.v8i32");
void kc_image_store_2d(float4, uint, int, int, kc_words8, uint, uint)
    __asm("llvm.amdgcn.image.store.2d.v4f32.i32.v8i32");
void kc_image_store_3d(float4, uint, int, int, int, kc_words8, uint, uint)
    __asm("llvm.amdgcn.image.store.3d.v4f32.i32.v8i32");

#define KC_IMAGES __attribute__((always_inline))
KC_IMAGES static float4 kc_load_f_1d(kc_handle im, int c) { return kc_image_load_1d(15, c, KC_RESOURCE(im), 0, 0); }
KC_IMAGES static float4 kc_load_f_2d(kc_handle im, int2 c) {
  return kc_image_load_2d(15, c.x, c.y, KC_RESOURCE(im), 0, 0);
}
KC_IMAGES static float4 kc_load_f_3d(kc_handle im, int4 c) {
  return kc_image_load_3d(15, c.x, c.y, c.z, KC_RESOURCE(im), 0, 0);
}
KC_IMAGES static int4 kc_load_i_1d(kc_handle im, int c) { return as_int4(kc_load_f_1d(im, c)); }
KC_IMAGES static int4 kc_load_i_2d(kc_handle im, int2 c) { return as_int4(kc_load_f_2d(im, c)); }
KC_IMAGES static int4 kc_load_i_3d(kc_handle im, int4 c) { return as_int4(kc_load_f_3d(im, c)); }
KC_IMAGES static float4 kc_sample_f_1d(kc_handle im, kc_handle s, float c) {
  return KC_SAMPLED(1d, im, s, c);
}
KC_IMAGES static float4 kc_sample_f_2d(kc_handle im, kc_handle s, float2 c) {
  return KC_SAMPLED(2d, im, s, c.x, c.y);
}
KC_IMAGES static float4 kc_sample_f_3d(kc_handle im, kc_handle s, float4 c) {
  return KC_SAMPLED(3d, im, s, c.x, c.y, c.z);
}
KC_IMAGES static void kc_store_1d(kc_handle im, int c, float4 v) { kc_image_store_1d(v, 15, c, KC_RESOURCE(im), 0, 0); }
KC_IMAGES static void kc_store_2d(kc_handle im, int2 c, float4 v) {
  kc_image_store_2d(v, 15, c.x, c.y, KC_RESOURCE(im), 0, 0);
}
KC_IMAGES static void kc_store_3d(kc_handle im, int4 c, float4 v) {
  kc_image_store_3d(v, 15, c.x, c.y, c.z, KC_RESOURCE(im), 0, 0);
}
static int kc_width(kc_handle im) { return (int)((im[1] >> 30) | ((im[2] & 0xfff) << 2)) + 1; }
static int kc_height(kc_handle im) { return (int)((im[2] >> 14) & 0x3fff) + 1; }
static int kc_depth(kc_handle im) { return (int)(im[4] & 0x1fff) + 1; }
static int kc_data_type(kc_handle im) { return (int)im[10]; }
static int kc_order(kc_handle im) { return (int)im[11]; }
