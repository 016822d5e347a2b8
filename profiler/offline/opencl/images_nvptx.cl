// Source: "PTX ISA" 8.5, sections 9.7.10 (textures) and 9.7.11 (surfaces), unified mode. Arrays are read as one
// dimension more, which takes the same registers and instructions.
typedef ulong kc_handle;
#define kc_constant_sampler(sampler) (sampler)
#define KC_OUT(r) "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
#define KC_OUT_INT(r) "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)

static float4 kc_sample_f_1d(ulong im, ulong s, float c) {
  float4 r;
  __asm("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];" : KC_OUT(r) : "l"(im), "f"(c));
  return r;
}
static float4 kc_sample_f_2d(ulong im, ulong s, float2 c) {
  float4 r;
  __asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : KC_OUT(r) : "l"(im), "f"(c.x), "f"(c.y));
  return r;
}
static float4 kc_sample_f_3d(ulong im, ulong s, float4 c) {
  float4 r;
  __asm("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
        : KC_OUT(r) : "l"(im), "f"(c.x), "f"(c.y), "f"(c.z));
  return r;
}
// Without a sampler, at integers: as the driver does it, through the texture units.
static int4 kc_load_i_1d(ulong im, int c) {
  int4 r;
  __asm("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : KC_OUT_INT(r) : "l"(im), "r"(c));
  return r;
}
static int4 kc_load_i_2d(ulong im, int2 c) {
  int4 r;
  __asm("tex.2d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : KC_OUT_INT(r) : "l"(im), "r"(c.x), "r"(c.y));
  return r;
}
static int4 kc_load_i_3d(ulong im, int4 c) {
  int4 r;
  __asm("tex.3d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
        : KC_OUT_INT(r) : "l"(im), "r"(c.x), "r"(c.y), "r"(c.z));
  return r;
}
static float4 kc_load_f_1d(ulong im, int c) { return as_float4(kc_load_i_1d(im, c)); }
static float4 kc_load_f_2d(ulong im, int2 c) { return as_float4(kc_load_i_2d(im, c)); }
static float4 kc_load_f_3d(ulong im, int4 c) { return as_float4(kc_load_i_3d(im, c)); }

#define KC_IN(v) "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
static void kc_store_1d(ulong im, int c, float4 v) {
  __asm volatile("sust.b.1d.v4.b32.clamp [%0, {%1}], {%2, %3, %4, %5};" : : "l"(im), "r"(c * 16), KC_IN(v) : "memory");
}
static void kc_store_2d(ulong im, int2 c, float4 v) {
  __asm volatile("sust.b.2d.v4.b32.clamp [%0, {%1, %2}], {%3, %4, %5, %6};"
                 : : "l"(im), "r"(c.x * 16), "r"(c.y), KC_IN(v) : "memory");
}
static void kc_store_3d(ulong im, int4 c, float4 v) {
  __asm volatile("sust.b.3d.v4.b32.clamp [%0, {%1, %2, %3, %3}], {%4, %5, %6, %7};"
                 : : "l"(im), "r"(c.x * 16), "r"(c.y), "r"(c.z), KC_IN(v) : "memory");
}
#define KC_QUERY(name, what) \
  static int name(ulong im) { \
    int r; \
    __asm("txq." what ".b32 %0, [%1];" : "=r"(r) : "l"(im)); \
    return r; \
  }
KC_QUERY(kc_width, "width") KC_QUERY(kc_height, "height") KC_QUERY(kc_depth, "depth")
KC_QUERY(kc_data_type, "channel_data_type") KC_QUERY(kc_order, "channel_order")
