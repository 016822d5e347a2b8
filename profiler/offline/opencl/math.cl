// Mathematical, common, geometric and relational functions: OpenCL C 3.0, sections 6.15.2, 6.15.4 to 6.15.6.
// `scalar_nvptx.cl` and `scalar_amdgcn.cl` provide the vendor's scalar functions as kc_name.
#define KC_FLOAT1(f) \
  KC_BUILTIN float f(float x) { return kc_##f(x); } KC_MAP1(float, float, f) \
  KC_BUILTIN double f(double x) { return kc_##f(x); } KC_MAP1(double, double, f) \
  KC_BUILTIN half f(half x) { return (half)kc_##f((float)x); } KC_MAP1(half, half, f)
#define KC_FLOAT2(f) \
  KC_BUILTIN float f(float x, float y) { return kc_##f(x, y); } KC_MAP2(float, float, float, f) \
  KC_BUILTIN double f(double x, double y) { return kc_##f(x, y); } KC_MAP2(double, double, double, f) \
  KC_BUILTIN half f(half x, half y) { return (half)kc_##f((float)x, (float)y); } KC_MAP2(half, half, half, f)

KC_FLOAT1(acos) KC_FLOAT1(acosh) KC_FLOAT1(asin) KC_FLOAT1(asinh) KC_FLOAT1(atan) KC_FLOAT1(atanh) KC_FLOAT1(cbrt)
KC_FLOAT1(cos) KC_FLOAT1(cosh) KC_FLOAT1(cospi) KC_FLOAT1(erf) KC_FLOAT1(erfc) KC_FLOAT1(exp) KC_FLOAT1(exp10)
KC_FLOAT1(exp2) KC_FLOAT1(expm1) KC_FLOAT1(lgamma) KC_FLOAT1(log) KC_FLOAT1(log10) KC_FLOAT1(log1p) KC_FLOAT1(log2)
KC_FLOAT1(logb) KC_FLOAT1(rsqrt) KC_FLOAT1(sin) KC_FLOAT1(sinh) KC_FLOAT1(sinpi) KC_FLOAT1(sqrt) KC_FLOAT1(tan)
KC_FLOAT1(tanh) KC_FLOAT1(tgamma)
KC_FLOAT2(atan2) KC_FLOAT2(fmod) KC_FLOAT2(hypot) KC_FLOAT2(nextafter) KC_FLOAT2(pow) KC_FLOAT2(remainder)

#define KC_COMPOSED(T) \
  KC_BUILTIN T fdim(T x, T y) { return max(x - y, (T)0); } \
  KC_BUILTIN T mix(T x, T y, T a) { return mad(y - x, a, x); } \
  KC_BUILTIN T degrees(T x) { return x * (T)57.29577951308232; } \
  KC_BUILTIN T radians(T x) { return x * (T)0.017453292519943295; } \
  KC_BUILTIN T acospi(T x) { return acos(x) * (T)M_1_PI; } \
  KC_BUILTIN T asinpi(T x) { return asin(x) * (T)M_1_PI; } \
  KC_BUILTIN T atanpi(T x) { return atan(x) * (T)M_1_PI; } \
  KC_BUILTIN T atan2pi(T y, T x) { return atan2(y, x) * (T)M_1_PI; } \
  KC_BUILTIN T tanpi(T x) { return sinpi(x) / cospi(x); } \
  KC_BUILTIN T powr(T x, T y) { return pow(x, y); }
KC_FLOATS(KC_COMPOSED)

#define KC_SCALARS(T) \
  KC_BUILTIN T step(T edge, T x) { return x < edge ? (T)0 : (T)1; } KC_MAP2(T, T, T, step) \
  KC_BUILTIN T sign(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x; } KC_MAP1(T, T, sign) \
  KC_BUILTIN T smoothstep(T a, T b, T x) { \
    T t = clamp((x - a) / (b - a), (T)0, (T)1); \
    return t * t * ((T)3 - (T)2 * t); \
  } \
  KC_MAP3(T, T, T, T, smoothstep) \
  KC_BUILTIN T maxmag(T x, T y) { return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y); } \
  KC_MAP2(T, T, T, maxmag) \
  KC_BUILTIN T minmag(T x, T y) { return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y); } \
  KC_MAP2(T, T, T, minmag) \
  KC_MAP2_SCALAR(T, T, fmin) KC_MAP2_SCALAR(T, T, fmax) KC_MAP2_SCALAR(T, T, min) KC_MAP2_SCALAR(T, T, max) \
  KC_MAP3_SCALARS(T, clamp) \
  KC_BUILTIN T##2 mix(T##2 x, T##2 y, T a) { return mix(x, y, (T##2)(a)); } \
  KC_BUILTIN T##3 mix(T##3 x, T##3 y, T a) { return mix(x, y, (T##3)(a)); } \
  KC_BUILTIN T##4 mix(T##4 x, T##4 y, T a) { return mix(x, y, (T##4)(a)); } \
  KC_BUILTIN T##8 mix(T##8 x, T##8 y, T a) { return mix(x, y, (T##8)(a)); } \
  KC_BUILTIN T##16 mix(T##16 x, T##16 y, T a) { return mix(x, y, (T##16)(a)); } \
  KC_BUILTIN T##2 step(T a, T##2 x) { return step((T##2)(a), x); } \
  KC_BUILTIN T##3 step(T a, T##3 x) { return step((T##3)(a), x); } \
  KC_BUILTIN T##4 step(T a, T##4 x) { return step((T##4)(a), x); } \
  KC_BUILTIN T##8 step(T a, T##8 x) { return step((T##8)(a), x); } \
  KC_BUILTIN T##16 step(T a, T##16 x) { return step((T##16)(a), x); } \
  KC_BUILTIN T##2 smoothstep(T a, T b, T##2 x) { return smoothstep((T##2)(a), (T##2)(b), x); } \
  KC_BUILTIN T##3 smoothstep(T a, T b, T##3 x) { return smoothstep((T##3)(a), (T##3)(b), x); } \
  KC_BUILTIN T##4 smoothstep(T a, T b, T##4 x) { return smoothstep((T##4)(a), (T##4)(b), x); } \
  KC_BUILTIN T pown(T x, int n) { return (T)kc_pown(x, n); } KC_MAP2(T, T, int, pown) \
  KC_BUILTIN T rootn(T x, int n) { T r = pow(fabs(x), (T)1 / (T)n); return x < 0 ? -r : r; } KC_MAP2(T, T, int, rootn) \
  KC_BUILTIN T ldexp(T x, int n) { return (T)kc_ldexp(x, n); } KC_MAP2(T, T, int, ldexp) KC_MAP2_SCALAR(T, int, ldexp) \
  KC_BUILTIN int ilogb(T x) { return kc_ilogb(x); } KC_MAP1(int, T, ilogb) \
  KC_BUILTIN T dot(T x, T y) { return x * y; } \
  KC_BUILTIN T dot(T##2 x, T##2 y) { return mad(x.x, y.x, x.y * y.y); } \
  KC_BUILTIN T dot(T##3 x, T##3 y) { return mad(x.x, y.x, mad(x.y, y.y, x.z * y.z)); } \
  KC_BUILTIN T dot(T##4 x, T##4 y) { return mad(x.x, y.x, mad(x.y, y.y, mad(x.z, y.z, x.w * y.w))); } \
  KC_BUILTIN T##3 cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
  KC_BUILTIN T##4 cross(T##4 a, T##4 b) { return (T##4)(a.yzx * b.zxy - a.zxy * b.yzx, (T)0); }
KC_SCALARS(float) KC_SCALARS(double) KC_SCALARS(half)

#define KC_GEOMETRIC(T, S) \
  KC_BUILTIN S length(T x) { return sqrt(dot(x, x)); } \
  KC_BUILTIN S distance(T x, T y) { return length(x - y); } \
  KC_BUILTIN T normalize(T x) { return x * rsqrt(dot(x, x)); }
#define KC_GEOMETRIC_WIDTHS(S) KC_GEOMETRIC(S, S) KC_GEOMETRIC(S##2, S) KC_GEOMETRIC(S##3, S) KC_GEOMETRIC(S##4, S)
KC_GEOMETRIC_WIDTHS(float) KC_GEOMETRIC_WIDTHS(double) KC_GEOMETRIC_WIDTHS(half)
#define KC_FAST_GEOMETRIC(T) \
  KC_BUILTIN float fast_length(T x) { return kc_native_sqrt(dot(x, x)); } \
  KC_BUILTIN float fast_distance(T x, T y) { return fast_length(x - y); } \
  KC_BUILTIN T fast_normalize(T x) { return x * kc_native_rsqrt(dot(x, x)); }
KC_FAST_GEOMETRIC(float) KC_FAST_GEOMETRIC(float2) KC_FAST_GEOMETRIC(float3) KC_FAST_GEOMETRIC(float4)

#define KC_NATIVE1(f) \
  KC_BUILTIN float native_##f(float x) { return kc_native_##f(x); } KC_MAP1(float, float, native_##f) \
  KC_BUILTIN float half_##f(float x) { return kc_native_##f(x); } KC_MAP1(float, float, half_##f)
KC_NATIVE1(cos) KC_NATIVE1(exp) KC_NATIVE1(exp2) KC_NATIVE1(exp10) KC_NATIVE1(log) KC_NATIVE1(log2) KC_NATIVE1(log10)
KC_NATIVE1(recip) KC_NATIVE1(rsqrt) KC_NATIVE1(sin) KC_NATIVE1(sqrt) KC_NATIVE1(tan)
#define KC_NATIVE2(f, value) \
  KC_BUILTIN float native_##f(float x, float y) { return value; } KC_MAP2(float, float, float, native_##f) \
  KC_BUILTIN float half_##f(float x, float y) { return value; } KC_MAP2(float, float, float, half_##f)
KC_NATIVE2(divide, x * kc_native_recip(y))
KC_NATIVE2(powr, kc_native_exp2(y * kc_native_log2(x)))

// Results that also go through a pointer, into each address space.
#define KC_POINTERS(T, I, AS) \
  KC_BUILTIN T fract(T x, AS T *whole) { T f = floor(x); *whole = f; return fmin(x - f, (T)0.99999994f); } \
  KC_BUILTIN T modf(T x, AS T *whole) { T f = trunc(x); *whole = f; return copysign(x - f, x); } \
  KC_BUILTIN T sincos(T x, AS T *cosine) { *cosine = cos(x); return sin(x); }
#define KC_POINTERS_WIDTHS(T, AS) \
  KC_POINTERS(T, int, AS) KC_POINTERS(T##2, int2, AS) KC_POINTERS(T##3, int3, AS) KC_POINTERS(T##4, int4, AS) \
  KC_POINTERS(T##8, int8, AS) KC_POINTERS(T##16, int16, AS)
#define KC_INT_POINTERS(T, AS) \
  KC_BUILTIN T frexp(T x, AS int *e) { \
    int n = x == 0 ? 0 : ilogb(x) + 1; \
    *e = n; \
    return ldexp(x, -n); \
  } \
  KC_BUILTIN T##2 frexp(T##2 x, AS int2 *e) { \
    int a, b; \
    T##2 r = (T##2)(frexp(x.x, (__private int *)&a), frexp(x.y, (__private int *)&b)); \
    *e = (int2)(a, b); \
    return r; \
  } \
  KC_BUILTIN T##4 frexp(T##4 x, AS int4 *e) { \
    int2 a, b; \
    T##4 r = (T##4)(frexp(x.lo, (__private int2 *)&a), frexp(x.hi, (__private int2 *)&b)); \
    *e = (int4)(a, b); \
    return r; \
  } \
  KC_BUILTIN T remquo(T x, T y, AS int *quotient) { T n = rint(x / y); *quotient = (int)n; return fma(-n, y, x); } \
  KC_BUILTIN T lgamma_r(T x, AS int *sign) { *sign = x < 0 && ((long)floor(x) & 1) ? -1 : 1; return lgamma(x); }
#define KC_INTO(AS) \
  KC_POINTERS_WIDTHS(float, AS) KC_POINTERS_WIDTHS(double, AS) KC_POINTERS_WIDTHS(half, AS) \
  KC_INT_POINTERS(float, AS) KC_INT_POINTERS(double, AS)
KC_INTO(__private) KC_INTO(__global) KC_INTO(__local)
#ifdef KC_HAS_GENERIC
KC_INTO(__generic)
#endif

// Relational: int of scalars, integers as wide as the components of vectors.
#define KC_RELATION2(T, I, name, test) \
  KC_BUILTIN int name(T x, T y) { return test; } \
  KC_BUILTIN I##2 name(T##2 x, T##2 y) { return test; } \
  KC_BUILTIN I##3 name(T##3 x, T##3 y) { return test; } \
  KC_BUILTIN I##4 name(T##4 x, T##4 y) { return test; } \
  KC_BUILTIN I##8 name(T##8 x, T##8 y) { return test; } \
  KC_BUILTIN I##16 name(T##16 x, T##16 y) { return test; }
#define KC_RELATION1(T, I, name, test) \
  KC_BUILTIN int name(T x) { return test; } \
  KC_BUILTIN I##2 name(T##2 x) { return test; } \
  KC_BUILTIN I##3 name(T##3 x) { return test; } \
  KC_BUILTIN I##4 name(T##4 x) { return test; } \
  KC_BUILTIN I##8 name(T##8 x) { return test; } \
  KC_BUILTIN I##16 name(T##16 x) { return test; }
#define KC_RELATIONS(T, I, LEAST, SHIFT) \
  KC_RELATION2(T, I, isequal, x == y) KC_RELATION2(T, I, isnotequal, x != y) \
  KC_RELATION2(T, I, isgreater, x > y) KC_RELATION2(T, I, isgreaterequal, x >= y) \
  KC_RELATION2(T, I, isless, x < y) KC_RELATION2(T, I, islessequal, x <= y) \
  KC_RELATION2(T, I, islessgreater, (x < y) | (x > y)) \
  KC_RELATION2(T, I, isordered, (x == x) & (y == y)) KC_RELATION2(T, I, isunordered, (x != x) | (y != y)) \
  KC_RELATION1(T, I, isnan, x != x) KC_RELATION1(T, I, isinf, fabs(x) == (T)INFINITY) \
  KC_RELATION1(T, I, isfinite, fabs(x) < (T)INFINITY) \
  KC_RELATION1(T, I, isnormal, (fabs(x) < (T)INFINITY) & (fabs(x) >= (T)LEAST)) \
  KC_BUILTIN int signbit(T x) { return KC_AS(x, I) < 0; } \
  KC_BUILTIN I##2 signbit(T##2 x) { return KC_AS(x, I##2) < (I##2)(0); } \
  KC_BUILTIN I##3 signbit(T##3 x) { return KC_AS(x, I##3) < (I##3)(0); } \
  KC_BUILTIN I##4 signbit(T##4 x) { return KC_AS(x, I##4) < (I##4)(0); }
KC_RELATIONS(float, int, FLT_MIN, 31) KC_RELATIONS(double, long, DBL_MIN, 63) KC_RELATIONS(half, short, HALF_MIN, 15)
#define KC_NAN(T, U) KC_BUILTIN T nan(U x) { return (T)NAN; }
KC_NAN(float, uint) KC_NAN(float2, uint2) KC_NAN(float3, uint3) KC_NAN(float4, uint4) KC_NAN(double, ulong)
