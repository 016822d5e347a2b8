// What is one instruction or few, the same for scalars and vectors of all widths and precisions: OpenCL C 3.0,
// section 6.15.2.
#define KC_FLOATS(X) KC_EACH_WIDTH(X, float) KC_EACH_WIDTH(X, double) KC_EACH_WIDTH(X, half)
#define KC_SIMPLE(T) \
  KC_BUILTIN T fabs(T x) { return __builtin_elementwise_abs(x); } \
  KC_BUILTIN T ceil(T x) { return __builtin_elementwise_ceil(x); } \
  KC_BUILTIN T floor(T x) { return __builtin_elementwise_floor(x); } \
  KC_BUILTIN T trunc(T x) { return __builtin_elementwise_trunc(x); } \
  KC_BUILTIN T rint(T x) { return __builtin_elementwise_rint(x); } \
  KC_BUILTIN T round(T x) { return __builtin_elementwise_round(x); } \
  KC_BUILTIN T fma(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); } \
  KC_BUILTIN T mad(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); } \
  KC_BUILTIN T fmin(T x, T y) { return __builtin_elementwise_minnum(x, y); } \
  KC_BUILTIN T fmax(T x, T y) { return __builtin_elementwise_maxnum(x, y); } \
  KC_BUILTIN T min(T x, T y) { return __builtin_elementwise_minnum(x, y); } \
  KC_BUILTIN T max(T x, T y) { return __builtin_elementwise_maxnum(x, y); } \
  KC_BUILTIN T clamp(T x, T low, T high) { return min(max(x, low), high); } \
  KC_BUILTIN T copysign(T x, T y) { return __builtin_elementwise_copysign(x, y); }
KC_FLOATS(KC_SIMPLE)
