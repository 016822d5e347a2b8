// Images: OpenCL C 3.0, section 6.15.15. kc_read_* and kc_write_* of `images_nvptx.cl` and `images_amdgcn.cl` take the
// image's handle, its dimensions and coordinates of four components.
#define KC_HANDLE(image) KC_AS(image, kc_handle)
#define KC_SAMPLER(sampler) KC_AS(sampler, kc_handle)
kc_handle __translate_sampler_initializer(uint sampler) __attribute__((const)) {
  return kc_constant_sampler(sampler);
}

#define KC_READS(ACCESS, IMAGE, C, D) \
  KC_BUILTIN float4 read_imagef(ACCESS IMAGE im, int##C c) { return kc_load_f_##D(KC_HANDLE(im), c); } \
  KC_BUILTIN int4 read_imagei(ACCESS IMAGE im, int##C c) { return kc_load_i_##D(KC_HANDLE(im), c); } \
  KC_BUILTIN uint4 read_imageui(ACCESS IMAGE im, int##C c) { return KC_AS(kc_load_i_##D(KC_HANDLE(im), c), uint4); }
#define KC_SAMPLES(IMAGE, C, D) \
  KC_BUILTIN float4 read_imagef(read_only IMAGE im, sampler_t s, int##C c) { \
    return kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), convert_float##C(c)); \
  } \
  KC_BUILTIN int4 read_imagei(read_only IMAGE im, sampler_t s, int##C c) { \
    return KC_AS(kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), convert_float##C(c)), int4); \
  } \
  KC_BUILTIN uint4 read_imageui(read_only IMAGE im, sampler_t s, int##C c) { \
    return KC_AS(kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), convert_float##C(c)), uint4); \
  } \
  KC_BUILTIN float4 read_imagef(read_only IMAGE im, sampler_t s, float##C c) { \
    return kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), c); \
  } \
  KC_BUILTIN int4 read_imagei(read_only IMAGE im, sampler_t s, float##C c) { \
    return KC_AS(kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), c), int4); \
  } \
  KC_BUILTIN uint4 read_imageui(read_only IMAGE im, sampler_t s, float##C c) { \
    return KC_AS(kc_sample_f_##D(KC_HANDLE(im), KC_SAMPLER(s), c), uint4); \
  }
#define KC_WRITES(ACCESS, IMAGE, C, D) \
  KC_BUILTIN void write_imagef(ACCESS IMAGE im, int##C c, float4 v) { kc_store_##D(KC_HANDLE(im), c, v); } \
  KC_BUILTIN void write_imagei(ACCESS IMAGE im, int##C c, int4 v) { kc_store_##D(KC_HANDLE(im), c, as_float4(v)); } \
  KC_BUILTIN void write_imageui(ACCESS IMAGE im, int##C c, uint4 v) { kc_store_##D(KC_HANDLE(im), c, as_float4(v)); }
#define KC_QUERIES(ACCESS, IMAGE) \
  KC_BUILTIN int get_image_width(ACCESS IMAGE im) { return kc_width(KC_HANDLE(im)); } \
  KC_BUILTIN int get_image_channel_data_type(ACCESS IMAGE im) { return kc_data_type(KC_HANDLE(im)); } \
  KC_BUILTIN int get_image_channel_order(ACCESS IMAGE im) { return kc_order(KC_HANDLE(im)); }
#define KC_QUERIES_2D(ACCESS, IMAGE) \
  KC_BUILTIN int get_image_height(ACCESS IMAGE im) { return kc_height(KC_HANDLE(im)); } \
  KC_BUILTIN int2 get_image_dim(ACCESS IMAGE im) { return (int2)(kc_width(KC_HANDLE(im)), kc_height(KC_HANDLE(im))); }
#define KC_QUERIES_3D(ACCESS, IMAGE) \
  KC_BUILTIN int get_image_height(ACCESS IMAGE im) { return kc_height(KC_HANDLE(im)); } \
  KC_BUILTIN int get_image_depth(ACCESS IMAGE im) { return kc_depth(KC_HANDLE(im)); } \
  KC_BUILTIN int4 get_image_dim(ACCESS IMAGE im) { \
    return (int4)(kc_width(KC_HANDLE(im)), kc_height(KC_HANDLE(im)), kc_depth(KC_HANDLE(im)), 0); \
  }
#define KC_QUERIES_ARRAY(ACCESS, IMAGE) \
  KC_BUILTIN size_t get_image_array_size(ACCESS IMAGE im) { return kc_depth(KC_HANDLE(im)); }

#define KC_IMAGE(IMAGE, C, D) \
  KC_READS(read_only, IMAGE, C, D) KC_READS(read_write, IMAGE, C, D) \
  KC_WRITES(write_only, IMAGE, C, D) KC_WRITES(read_write, IMAGE, C, D) \
  KC_EACH_ACCESS(KC_QUERIES, IMAGE)
#define KC_EACH_ACCESS(X, IMAGE) X(read_only, IMAGE) X(write_only, IMAGE) X(read_write, IMAGE)
KC_IMAGE(image1d_t, , 1d) KC_SAMPLES(image1d_t, , 1d)
KC_IMAGE(image1d_buffer_t, , 1d)
KC_IMAGE(image2d_t, 2, 2d) KC_SAMPLES(image2d_t, 2, 2d) KC_EACH_ACCESS(KC_QUERIES_2D, image2d_t)
KC_IMAGE(image3d_t, 4, 3d) KC_SAMPLES(image3d_t, 4, 3d) KC_EACH_ACCESS(KC_QUERIES_3D, image3d_t)
KC_IMAGE(image1d_array_t, 2, 2d) KC_SAMPLES(image1d_array_t, 2, 2d) KC_EACH_ACCESS(KC_QUERIES_ARRAY, image1d_array_t)
KC_IMAGE(image2d_array_t, 4, 3d) KC_SAMPLES(image2d_array_t, 4, 3d) KC_EACH_ACCESS(KC_QUERIES_2D, image2d_array_t)
KC_EACH_ACCESS(KC_QUERIES_ARRAY, image2d_array_t)
