// Scalar mathematics on AMD's GPUs. With KC_OCML the vendor's own library is linked, ROCm's `ocml.bc`; without it these
// stand in for it: the same reductions and polynomials of the usual degrees, never run, for their registers and cost.
// Sources: ROCm device libraries, "OCML"; Cody & Waite, "Software Manual for the Elementary Functions", 1980.
KC_BUILTIN long kc_mul_hi_long(long x, long y) { return (long)(((__int128)x * y) >> 64); }
KC_BUILTIN ulong kc_mul_hi_ulong(ulong x, ulong y) { return (ulong)(((unsigned __int128)x * y) >> 64); }

#define KC_MAP_BOTH1(name) \
  KC_BUILTIN float kc_##name(float x) { return KC_F32(name)(x); } \
  KC_BUILTIN double kc_##name(double x) { return KC_F64(name)(x); }
#define KC_MAP_BOTH2(name) \
  KC_BUILTIN float kc_##name(float x, float y) { return KC_F32(name)(x, y); } \
  KC_BUILTIN double kc_##name(double x, double y) { return KC_F64(name)(x, y); }

#ifdef KC_OCML
#define KC_F32(name) __ocml_##name##_f32
#define KC_F64(name) __ocml_##name##_f64
#define KC_LIB1(name) float __ocml_##name##_f32(float); double __ocml_##name##_f64(double); KC_MAP_BOTH1(name)
#define KC_LIB2(name) \
  float __ocml_##name##_f32(float, float); double __ocml_##name##_f64(double, double); KC_MAP_BOTH2(name)
KC_LIB1(acos) KC_LIB1(acosh) KC_LIB1(asin) KC_LIB1(asinh) KC_LIB1(atan) KC_LIB1(atanh) KC_LIB1(cbrt) KC_LIB1(cos)
KC_LIB1(cosh) KC_LIB1(cospi) KC_LIB1(erf) KC_LIB1(erfc) KC_LIB1(exp) KC_LIB1(exp10) KC_LIB1(exp2) KC_LIB1(expm1)
KC_LIB1(lgamma) KC_LIB1(log) KC_LIB1(log10) KC_LIB1(log1p) KC_LIB1(log2) KC_LIB1(logb) KC_LIB1(rsqrt) KC_LIB1(sin)
KC_LIB1(sinh) KC_LIB1(sinpi) KC_LIB1(tan) KC_LIB1(tanh) KC_LIB1(tgamma)
KC_LIB2(atan2) KC_LIB2(fmod) KC_LIB2(hypot) KC_LIB2(nextafter) KC_LIB2(pow) KC_LIB2(remainder)
float __ocml_pown_f32(float, int); double __ocml_pown_f64(double, int);
KC_BUILTIN float kc_pown(float x, int n) { return __ocml_pown_f32(x, n); }
KC_BUILTIN double kc_pown(double x, int n) { return __ocml_pown_f64(x, n); }
#else
#define KC_PER_TYPE(T, I, K, PI_HIGH, PI_LOW, EXP_KIND, LOG_KIND) \
  KC_BUILTIN T kc_horner4(T x, T a, T b, T c, T d) { return fma(fma(fma(a, x, b), x, c), x, d); } \
  KC_BUILTIN T kc_horner8(T x, T a, T b, T c, T d, T e, T f, T g, T h) { \
    T s = x * x, q = s * s; \
    return fma(q, kc_horner4(x, a, b, c, d), kc_horner4(x, e, f, g, h)); \
  } \
  KC_BUILTIN T kc_exp(T x) { return KC_EXP_##EXP_KIND(T, x); } \
  KC_BUILTIN T kc_exp2(T x) { return KC_EXP2_##EXP_KIND(T, x); } \
  KC_BUILTIN T kc_exp10(T x) { return kc_exp2(x * (T)3.321928094887362); } \
  KC_BUILTIN T kc_log(T x) { return KC_LOG_##LOG_KIND(T, x); } \
  KC_BUILTIN T kc_log2(T x) { return KC_LOG2_##LOG_KIND(T, x); } \
  KC_BUILTIN T kc_log10(T x) { return kc_log2(x) * (T)0.3010299956639812; } \
  KC_BUILTIN T kc_expm1(T x) { \
    T near = x * kc_horner8(x, 2.5e-5, 1.98e-4, 1.39e-3, 8.33e-3, 4.17e-2, 0.1667, 0.5, 1); \
    return fabs(x) < (T)0.5 ? near : kc_exp(x) - 1; \
  } \
  KC_BUILTIN T kc_log1p(T x) { \
    T near = x * kc_horner8(x, -0.125, 0.1428, -0.1667, 0.2, -0.25, 0.3333, -0.5, 1); \
    return fabs(x) < (T)0.3 ? near : kc_log(1 + x); \
  } \
  KC_BUILTIN T kc_logb(T x) { return (T)kc_ilogb(x); } \
  KC_BUILTIN T kc_sqrt(T x) { return __builtin_elementwise_sqrt(x); } \
  KC_BUILTIN T kc_rsqrt(T x) { return KC_RSQRT_##EXP_KIND(x); } \
  KC_BUILTIN T kc_reduced(T x, I *quarter) { \
    T n = rint(x * (T)M_2_PI), r = fma(-n, (T)PI_LOW, fma(-n, (T)PI_HIGH, x)); \
    if (fabs(x) > (T)65536) { /* Payne and Hanek: the products with the bits of 2 / pi around the exponent */ \
      ulong m = (ulong)fabs(x), low = m * 0xa2f9836e4e441529UL, high = kc_mul_hi_ulong(m, 0xfc2757d1f534ddc0UL); \
      ulong bits = low + high + kc_mul_hi_ulong(m, 0xdb6295993c439041UL); \
      n = (T)(bits >> 62); \
      r = (T)(long)(bits << 2) * (T)8.5e-20; \
    } \
    *quarter = (I)n; \
    return r; \
  } \
  KC_BUILTIN T kc_sine(T r) { \
    T s = r * r; \
    return fma(r * s, kc_horner8(s, 0, -7.6e-13, 1.6e-10, -2.5e-8, 2.75e-6, -1.98e-4, 8.33e-3, -0.1667), r); \
  } \
  KC_BUILTIN T kc_cosine(T r) { \
    T s = r * r; \
    return fma(s, kc_horner8(s, 0, 4.7e-14, -1.1e-11, 2e-9, -2.7e-7, 2.48e-5, -1.38e-3, 0.04167) * s - (T)0.5, 1); \
  } \
  KC_BUILTIN T kc_sin(T x) { \
    I q; \
    T r = kc_reduced(x, &q), v = q & 1 ? kc_cosine(r) : kc_sine(r); \
    return q & 2 ? -v : v; \
  } \
  KC_BUILTIN T kc_cos(T x) { \
    I q; \
    T r = kc_reduced(x, &q), v = q & 1 ? kc_sine(r) : kc_cosine(r); \
    return (q + 1) & 2 ? -v : v; \
  } \
  KC_BUILTIN T kc_tan(T x) { \
    I q; \
    T r = kc_reduced(x, &q), s = kc_sine(r), c = kc_cosine(r); \
    return q & 1 ? -c / s : s / c; \
  } \
  KC_BUILTIN T kc_sinpi(T x) { T r = x - 2 * rint(x * (T)0.5); return kc_sine(r * (T)M_PI); } \
  KC_BUILTIN T kc_cospi(T x) { T r = x - 2 * rint(x * (T)0.5); return kc_cosine(r * (T)M_PI); } \
  KC_BUILTIN T kc_atan(T x) { \
    T a = fabs(x), r = a > 1 ? 1 / a : a, s = r * r; \
    T v = fma(r * s, kc_horner8(s, 0.0028, -0.0159, 0.0425, -0.075, 0.1064, -0.142, 0.2, -0.3333), r); \
    return copysign(a > 1 ? (T)M_PI_2 - v : v, x); \
  } \
  KC_BUILTIN T kc_atan2(T y, T x) { \
    T a = fabs(x), b = fabs(y), v = kc_atan(fmin(a, b) / fmax(a, b)); \
    v = b > a ? (T)M_PI_2 - v : v; \
    v = x < 0 ? (T)M_PI - v : v; \
    return copysign(x == 0 && y == 0 ? 0 : v, y); \
  } \
  KC_BUILTIN T kc_asin(T x) { \
    T a = fabs(x), z = a > (T)0.5 ? (1 - a) * (T)0.5 : a * a, r = a > (T)0.5 ? kc_sqrt(z) : a; \
    T v = fma(r * z, kc_horner8(z, 0.04, 0.01, 0.0139, 0.0224, 0.0304, 0.0446, 0.075, 0.1667), r); \
    return copysign(a > (T)0.5 ? (T)M_PI_2 - 2 * v : v, x); \
  } \
  KC_BUILTIN T kc_acos(T x) { return (T)M_PI_2 - kc_asin(x); } \
  KC_BUILTIN T kc_sinh(T x) { T e = kc_expm1(fabs(x)); return copysign((e + e / (e + 1)) * (T)0.5, x); } \
  KC_BUILTIN T kc_cosh(T x) { T e = kc_exp(fabs(x)); return (e + 1 / e) * (T)0.5; } \
  KC_BUILTIN T kc_tanh(T x) { T e = kc_expm1(2 * fabs(x)); return copysign(e / (e + 2), x); } \
  KC_BUILTIN T kc_asinh(T x) { T a = fabs(x); return copysign(kc_log(a + kc_sqrt(fma(a, a, 1))), x); } \
  KC_BUILTIN T kc_acosh(T x) { return kc_log(x + kc_sqrt(fma(x, x, -1))); } \
  KC_BUILTIN T kc_atanh(T x) { return (T)0.5 * kc_log1p(2 * x / (1 - x)); } \
  KC_BUILTIN T kc_cbrt(T x) { \
    T a = fabs(x), r = kc_exp2(kc_log2(a) * (T)0.3333333333333333); \
    return copysign(fma(-r / 3, 1 - a / (r * r * r), r), x); \
  } \
  /* The logarithm in two parts, as powers near 1 need it. */ \
  KC_BUILTIN T kc_pow(T x, T y) { \
    T a = fabs(x), high = kc_log2(a), low = fma(-kc_exp2(high), 1 / a, 1) * (T)M_LOG2E; \
    T p = y * high, rest = fma(y, high, -p) + y * low; \
    T v = fma(kc_exp2(p), rest * (T)M_LN2, kc_exp2(p)), whole = trunc(y); \
    bool is_odd = whole == y && trunc(y * (T)0.5) * 2 != y; \
    v = x < 0 ? (whole == y ? (is_odd ? -v : v) : (T)NAN) : v; \
    return x == 0 ? (y < 0 ? (T)INFINITY : 0) : x == 1 || y == 0 ? (T)1 : v; \
  } \
  KC_BUILTIN T kc_pown(T x, int n) { return kc_pow(x, (T)n); } \
  KC_BUILTIN T kc_hypot(T x, T y) { \
    int e = kc_ilogb(fmax(fabs(x), fabs(y))); \
    T a = kc_ldexp(x, -e), b = kc_ldexp(y, -e); \
    return kc_ldexp(kc_sqrt(fma(a, a, b * b)), e); \
  } \
  KC_BUILTIN T kc_fmod(T x, T y) { \
    T a = fabs(x), b = fabs(y); \
    for (int e = kc_ilogb(a) - kc_ilogb(b); e > 0; e -= 20) { \
      T step = kc_ldexp(b, (e > 20 ? e - 20 : 0)); \
      a = fma(-trunc(a / step), step, a); \
    } \
    return copysign(fma(-trunc(a / b), b, a), x); \
  } \
  KC_BUILTIN T kc_remainder(T x, T y) { T r = kc_fmod(x, y); return r - rint(r / y) * y; } \
  KC_BUILTIN T kc_nextafter(T x, T y) { I i = KC_AS(x, I); i += (x < y) == (x > 0) ? 1 : -1; return x == y ? y : KC_AS(i, T); } \
  KC_BUILTIN T kc_erf(T x) { \
    T a = fabs(x), p = kc_horner8(a, 4e-5, 2.7e-4, 1.5e-4, 9.3e-3, 0.0423, 0.0705, 0.1, 1); \
    T far = 1 - kc_exp(-a * p), near = a * kc_horner8(a * a, -1e-5, 1e-4, -8e-4, 5e-3, -0.0268, 0.1128, -0.376, 1.128); \
    return copysign(a > 1 ? far : near, x); \
  } \
  KC_BUILTIN T kc_erfc(T x) { T v = kc_exp(-x * x) * kc_horner8(1 / (1 + fabs(x)), 1, 2, 3, 4, 5, 6, 7, 8); return x < 0 ? 2 - v : v; } \
  KC_BUILTIN T kc_lgamma(T x) { \
    T a = fabs(x), z = 1 / a; \
    T v = (a - (T)0.5) * kc_log(a) - a + kc_horner8(z * z, 0.1, -0.2, 0.3, 8.4e-4, -5.9e-4, 7.9e-4, -2.8e-3, 0.0833) * z; \
    return x < 0 ? kc_log((T)M_PI / fabs(a * kc_sinpi(a))) - v : v; \
  } \
  KC_BUILTIN T kc_tgamma(T x) { T v = kc_exp(kc_lgamma(x)); return x < 0 && ((int)floor(x) & 1) ? -v : v; }

// The hardware has 2^x and log2 of floats; of doubles they are made of reductions and polynomials.
#define KC_EXP_HARD(T, x) __builtin_elementwise_exp(x)
#define KC_EXP2_HARD(T, x) __builtin_elementwise_exp2(x)
#define KC_LOG_HARD(T, x) __builtin_elementwise_log(x)
#define KC_LOG2_HARD(T, x) __builtin_elementwise_log2(x)
#define KC_RSQRT_HARD(x) __builtin_amdgcn_rsqf(x)
#define KC_EXP_SOFT(T, x) kc_exp_double(x)
#define KC_EXP2_SOFT(T, x) kc_exp_double((x) * M_LN2)
#define KC_LOG_SOFT(T, x) kc_log_double(x)
#define KC_LOG2_SOFT(T, x) (kc_log_double(x) * M_LOG2E)
#define KC_RSQRT_SOFT(x) (1.0 / __builtin_elementwise_sqrt(x))

KC_BUILTIN int kc_ilogb(float x) { return (int)((as_uint(x) >> 23) & 255) - 127; }
KC_BUILTIN int kc_ilogb(double x) { return (int)((as_ulong(x) >> 52) & 2047) - 1023; }
KC_BUILTIN float kc_ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
KC_BUILTIN double kc_ldexp(double x, int n) { return __builtin_ldexp(x, n); }
KC_BUILTIN double kc_exp_double(double x) {
  double n = rint(x * M_LOG2E), r = fma(-n, 1.9e-10, fma(-n, 0.693147180369, x));
  double p = fma(fma(fma(fma(2.5e-8, r, 2.7e-7), r, 2.75e-6), r, 2.48e-5), r, 1.98e-4);
  p = fma(fma(fma(fma(fma(fma(fma(p, r, 1.39e-3), r, 8.33e-3), r, 0.0417), r, 0.1667), r, 0.5), r, 1.0), r, 1.0);
  return x > 709.8 ? INFINITY : kc_ldexp(p, (int)n);
}
KC_BUILTIN double kc_log_double(double x) {
  int e = kc_ilogb(x);
  double m = kc_ldexp(x, -e), f = (m - 1.0) / (m + 1.0), s = f * f;
  double p = fma(fma(fma(fma(0.1480, s, 0.1532), s, 0.1818), s, 0.2222), s, 0.2857);
  double v = fma(f * s, fma(fma(p, s, 0.4), s, 0.6667), 2.0 * f);
  return x <= 0.0 ? -INFINITY : fma((double)e, M_LN2, v);
}
KC_PER_TYPE(float, int, 8, 1.5707962513f, 7.5497894e-8f, HARD, HARD)
KC_PER_TYPE(double, long, 8, 1.5707963267341256, 6.0771005065061922e-11, SOFT, SOFT)
#endif

#ifdef KC_OCML
KC_BUILTIN float kc_sqrt(float x) { return __builtin_elementwise_sqrt(x); }
KC_BUILTIN double kc_sqrt(double x) { return __builtin_elementwise_sqrt(x); }
KC_BUILTIN float kc_ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
KC_BUILTIN double kc_ldexp(double x, int n) { return __builtin_ldexp(x, n); }
int __ocml_ilogb_f32(float); int __ocml_ilogb_f64(double);
KC_BUILTIN int kc_ilogb(float x) { return __ocml_ilogb_f32(x); }
KC_BUILTIN int kc_ilogb(double x) { return __ocml_ilogb_f64(x); }
#endif
KC_BUILTIN float kc_pown(half x, int n) { return kc_pown((float)x, n); }
KC_BUILTIN float kc_ldexp(half x, int n) { return kc_ldexp((float)x, n); }
KC_BUILTIN int kc_ilogb(half x) { return kc_ilogb((float)x); }

KC_BUILTIN float kc_native_sin(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
KC_BUILTIN float kc_native_cos(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
KC_BUILTIN float kc_native_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
KC_BUILTIN float kc_native_log2(float x) { return __builtin_amdgcn_logf(x); }
KC_BUILTIN float kc_native_sqrt(float x) { return __builtin_amdgcn_sqrtf(x); }
KC_BUILTIN float kc_native_rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
KC_BUILTIN float kc_native_recip(float x) { return __builtin_amdgcn_rcpf(x); }
KC_BUILTIN float kc_native_tan(float x) { return kc_native_sin(x) * __builtin_amdgcn_rcpf(kc_native_cos(x)); }
KC_BUILTIN float kc_native_exp(float x) { return kc_native_exp2(x * M_LOG2E_F); }
KC_BUILTIN float kc_native_exp10(float x) { return kc_native_exp2(x * 3.32192808f); }
KC_BUILTIN float kc_native_log(float x) { return kc_native_log2(x) * M_LN2_F; }
KC_BUILTIN float kc_native_log10(float x) { return kc_native_log2(x) * 0.30103f; }
