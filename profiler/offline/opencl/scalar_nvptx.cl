// Scalar mathematics on NVIDIA's GPUs: libdevice, as the vendor's own compilers use it. Source: "libdevice User's Guide".
#define KC_LIB1(name) \
  float __nv_##name##f(float); double __nv_##name(double); \
  KC_BUILTIN float kc_##name(float x) { return __nv_##name##f(x); } \
  KC_BUILTIN double kc_##name(double x) { return __nv_##name(x); }
#define KC_LIB2(name) \
  float __nv_##name##f(float, float); double __nv_##name(double, double); \
  KC_BUILTIN float kc_##name(float x, float y) { return __nv_##name##f(x, y); } \
  KC_BUILTIN double kc_##name(double x, double y) { return __nv_##name(x, y); }
KC_LIB1(acos) KC_LIB1(acosh) KC_LIB1(asin) KC_LIB1(asinh) KC_LIB1(atan) KC_LIB1(atanh) KC_LIB1(cbrt) KC_LIB1(cos)
KC_LIB1(cosh) KC_LIB1(cospi) KC_LIB1(erf) KC_LIB1(erfc) KC_LIB1(exp) KC_LIB1(exp10) KC_LIB1(exp2) KC_LIB1(expm1)
KC_LIB1(lgamma) KC_LIB1(log) KC_LIB1(log10) KC_LIB1(log1p) KC_LIB1(log2) KC_LIB1(logb) KC_LIB1(rsqrt) KC_LIB1(sin)
KC_LIB1(sinh) KC_LIB1(sinpi) KC_LIB1(tan) KC_LIB1(tanh) KC_LIB1(tgamma)
KC_LIB2(atan2) KC_LIB2(fmod) KC_LIB2(hypot) KC_LIB2(nextafter) KC_LIB2(pow) KC_LIB2(remainder)
KC_BUILTIN float kc_sqrt(float x) { return __builtin_elementwise_sqrt(x); }
KC_BUILTIN double kc_sqrt(double x) { return __builtin_elementwise_sqrt(x); }
float __nv_powif(float, int); double __nv_powi(double, int);
KC_BUILTIN float kc_pown(float x, int n) { return __nv_powif(x, n); }
KC_BUILTIN double kc_pown(double x, int n) { return __nv_powi(x, n); }
float __nv_ldexpf(float, int); double __nv_ldexp(double, int);
KC_BUILTIN float kc_ldexp(float x, int n) { return __nv_ldexpf(x, n); }
KC_BUILTIN double kc_ldexp(double x, int n) { return __nv_ldexp(x, n); }
int __nv_ilogbf(float); int __nv_ilogb(double);
KC_BUILTIN int kc_ilogb(float x) { return __nv_ilogbf(x); }
KC_BUILTIN int kc_ilogb(double x) { return __nv_ilogb(x); }
KC_BUILTIN float kc_pown(half x, int n) { return __nv_powif(x, n); }
KC_BUILTIN float kc_ldexp(half x, int n) { return __nv_ldexpf(x, n); }
KC_BUILTIN int kc_ilogb(half x) { return __nv_ilogbf(x); }

KC_BUILTIN float kc_native_sin(float x) { return __nvvm_sin_approx_f(x); }
KC_BUILTIN float kc_native_cos(float x) { return __nvvm_cos_approx_f(x); }
KC_BUILTIN float kc_native_exp2(float x) { return __nvvm_ex2_approx_f(x); }
KC_BUILTIN float kc_native_log2(float x) { return __nvvm_lg2_approx_f(x); }
KC_BUILTIN float kc_native_sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
KC_BUILTIN float kc_native_rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
KC_BUILTIN float kc_native_recip(float x) { return __nvvm_div_approx_f(1.0f, x); }
KC_BUILTIN float kc_native_tan(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
// clang's own builtins of these take `long long`, which has 128 bits in OpenCL C.
long kc_mul_hi_long(long, long) __asm("llvm.nvvm.mulhi.ll");
ulong kc_mul_hi_ulong(ulong, ulong) __asm("llvm.nvvm.mulhi.ull");
KC_BUILTIN float kc_native_exp(float x) { return kc_native_exp2(x * M_LOG2E_F); }
KC_BUILTIN float kc_native_exp10(float x) { return kc_native_exp2(x * 3.32192809488736f); }
KC_BUILTIN float kc_native_log(float x) { return kc_native_log2(x) * M_LN2_F; }
KC_BUILTIN float kc_native_log10(float x) { return kc_native_log2(x) * 0.301029995663981f; }
