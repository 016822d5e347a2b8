// Integer functions, conversions, vector data, shuffles: OpenCL C 3.0, sections 6.4.3, 6.15.3, 6.15.7, 6.15.12.
#define KC_SIGNED(X) X(char, uchar) X(short, ushort) X(int, uint) X(long, ulong)
#define KC_UNSIGNED(X) X(uchar, uchar) X(ushort, ushort) X(uint, uint) X(ulong, ulong)
#define KC_INT_WIDTHS(X, T, U) X(T, U) X(T##2, U##2) X(T##3, U##3) X(T##4, U##4) X(T##8, U##8) X(T##16, U##16)

#define KC_INTEGER(T, U) \
  KC_BUILTIN T min(T x, T y) { return __builtin_elementwise_min(x, y); } \
  KC_BUILTIN T max(T x, T y) { return __builtin_elementwise_max(x, y); } \
  KC_BUILTIN T clamp(T x, T low, T high) { return min(max(x, low), high); } \
  KC_BUILTIN T add_sat(T x, T y) { return __builtin_elementwise_add_sat(x, y); } \
  KC_BUILTIN T sub_sat(T x, T y) { return __builtin_elementwise_sub_sat(x, y); } \
  KC_BUILTIN T popcount(T x) { return __builtin_elementwise_popcount(x); } \
  KC_BUILTIN T hadd(T x, T y) { return (x & y) + ((x ^ y) >> (T)1); } \
  KC_BUILTIN T rhadd(T x, T y) { return (x | y) - ((x ^ y) >> (T)1); } \
  KC_BUILTIN U abs_diff(T x, T y) { T d = max(x, y) - min(x, y); return KC_AS(d, U); } \
  KC_BUILTIN T rotate(T x, T n) { return KC_AS(__builtin_elementwise_fshl(KC_AS(x, U), KC_AS(x, U), KC_AS(n, U)), T); } \
  KC_BUILTIN T mul24(T x, T y) { return x * y; } \
  KC_BUILTIN T mad24(T x, T y, T z) { return x * y + z; } \
  KC_BUILTIN T clz(T x) { \
    U bits = (U)(sizeof(x) / vec_step(x) * 8), n = __builtin_elementwise_clzg(KC_AS(x, U), bits); \
    return KC_AS(n, T); \
  } \
  KC_BUILTIN T ctz(T x) { \
    U bits = (U)(sizeof(x) / vec_step(x) * 8), n = __builtin_elementwise_ctzg(KC_AS(x, U), bits); \
    return KC_AS(n, T); \
  }
#define KC_SIGNED_ABS(T, U) KC_BUILTIN U abs(T x) { return KC_AS(__builtin_elementwise_abs(x), U); }
#define KC_UNSIGNED_ABS(T, U) KC_BUILTIN U abs(T x) { return x; }
KC_SIGNED(KC_INTEGER) KC_UNSIGNED(KC_INTEGER) KC_SIGNED(KC_SIGNED_ABS) KC_UNSIGNED(KC_UNSIGNED_ABS)
#define KC_VECTOR_INTEGERS(X, T, U) X(T##2, U##2) X(T##3, U##3) X(T##4, U##4) X(T##8, U##8) X(T##16, U##16)
#define KC_ALL_INTEGERS(T, U) KC_VECTOR_INTEGERS(KC_INTEGER, T, U)
#define KC_ALL_SIGNED_ABS(T, U) KC_VECTOR_INTEGERS(KC_SIGNED_ABS, T, U)
#define KC_ALL_UNSIGNED_ABS(T, U) KC_VECTOR_INTEGERS(KC_UNSIGNED_ABS, T, U)
KC_SIGNED(KC_ALL_INTEGERS) KC_UNSIGNED(KC_ALL_INTEGERS) KC_SIGNED(KC_ALL_SIGNED_ABS) KC_UNSIGNED(KC_ALL_UNSIGNED_ABS)

#define KC_WIDE(T, W, BITS) \
  KC_BUILTIN T mul_hi(T x, T y) { return (T)(((W)x * (W)y) >> BITS); }
KC_WIDE(char, int, 8) KC_WIDE(uchar, uint, 8) KC_WIDE(short, int, 16) KC_WIDE(ushort, uint, 16) KC_WIDE(int, long, 32)
KC_WIDE(uint, ulong, 32)
KC_BUILTIN long mul_hi(long x, long y) { return kc_mul_hi_long(x, y); }
KC_BUILTIN ulong mul_hi(ulong x, ulong y) { return kc_mul_hi_ulong(x, y); }
#define KC_SCALAR_INTEGER(T) \
  KC_MAP2(T, T, T, mul_hi) \
  KC_BUILTIN T mad_hi(T x, T y, T z) { return mul_hi(x, y) + z; } KC_MAP3(T, T, T, T, mad_hi) \
  KC_BUILTIN T mad_sat(T x, T y, T z) { return add_sat((T)(x * y), z); } KC_MAP3(T, T, T, T, mad_sat) \
  KC_MAP2_SCALAR(T, T, min) KC_MAP2_SCALAR(T, T, max) KC_MAP3_SCALARS(T, clamp)
KC_EACH_INT(KC_SCALAR_INTEGER)
#define KC_UPSAMPLE(R, T, U, BITS) \
  KC_BUILTIN R upsample(T high, U low) { return ((R)high << BITS) | low; } KC_MAP2(R, T, U, upsample)
KC_UPSAMPLE(short, char, uchar, 8) KC_UPSAMPLE(ushort, uchar, uchar, 8) KC_UPSAMPLE(int, short, ushort, 16)
KC_UPSAMPLE(uint, ushort, ushort, 16) KC_UPSAMPLE(long, int, uint, 32) KC_UPSAMPLE(ulong, uint, uint, 32)

#define KC_ANY(T) \
  KC_BUILTIN int any(T x) { return x < 0; } \
  KC_BUILTIN int all(T x) { return x < 0; } \
  KC_BUILTIN int any(T##2 x) { return (x.x | x.y) < 0; } \
  KC_BUILTIN int all(T##2 x) { return (x.x & x.y) < 0; } \
  KC_BUILTIN int any(T##3 x) { return (x.x | x.y | x.z) < 0; } \
  KC_BUILTIN int all(T##3 x) { return (x.x & x.y & x.z) < 0; } \
  KC_BUILTIN int any(T##4 x) { return any(x.lo | x.hi); } \
  KC_BUILTIN int all(T##4 x) { return all(x.lo & x.hi); } \
  KC_BUILTIN int any(T##8 x) { return any(x.lo | x.hi); } \
  KC_BUILTIN int all(T##8 x) { return all(x.lo & x.hi); } \
  KC_BUILTIN int any(T##16 x) { return any(x.lo | x.hi); } \
  KC_BUILTIN int all(T##16 x) { return all(x.lo & x.hi); }
KC_ANY(char) KC_ANY(short) KC_ANY(int) KC_ANY(long)

// Of scalars every bit decides, of vectors the highest of each component.
#define KC_SELECT(T, I, U) \
  KC_BUILTIN T select(T a, T b, I c) { return c ? b : a; } \
  KC_BUILTIN T select(T a, T b, U c) { return c ? b : a; } \
  KC_SELECT_VECTOR(T##2, I##2, U##2) KC_SELECT_VECTOR(T##3, I##3, U##3) KC_SELECT_VECTOR(T##4, I##4, U##4) \
  KC_SELECT_VECTOR(T##8, I##8, U##8) KC_SELECT_VECTOR(T##16, I##16, U##16) \
  KC_EACH_WIDTH(KC_BITSELECT_##I, T)
#define KC_SELECT_VECTOR(T, I, U) \
  KC_BUILTIN T select(T a, T b, I c) { return c < (I)0 ? b : a; } \
  KC_BUILTIN T select(T a, T b, U c) { return KC_AS(c, I) < (I)0 ? b : a; }
#define KC_BITSELECT_char(T) KC_BUILTIN T bitselect(T a, T b, T c) { return (a & ~c) | (b & c); }
#define KC_BITSELECT_short(T) KC_BITSELECT_char(T)
#define KC_BITSELECT_int(T) KC_BITSELECT_char(T)
#define KC_BITSELECT_long(T) KC_BITSELECT_char(T)
KC_SELECT(char, char, uchar) KC_SELECT(uchar, char, uchar) KC_SELECT(short, short, ushort)
KC_SELECT(ushort, short, ushort) KC_SELECT(int, int, uint) KC_SELECT(uint, int, uint) KC_SELECT(long, long, ulong)
KC_SELECT(ulong, long, ulong)
#define KC_FLOAT_BITSELECT(T, I) \
  KC_BUILTIN T bitselect(T a, T b, T c) { return KC_AS(bitselect(KC_AS(a, I), KC_AS(b, I), KC_AS(c, I)), T); }
KC_INT_WIDTHS(KC_FLOAT_BITSELECT, float, int) KC_INT_WIDTHS(KC_FLOAT_BITSELECT, double, long)
#undef KC_BITSELECT_char
#define KC_BITSELECT_char(T)
KC_SELECT(float, int, uint) KC_SELECT(double, long, ulong) KC_SELECT(half, short, ushort)

#define KC_SHUFFLES(T, M) \
  KC_SHUFFLE(T, M, 2) KC_SHUFFLE(T, M, 4) KC_SHUFFLE(T, M, 8) KC_SHUFFLE(T, M, 16)
#define KC_SHUFFLE(T, M, N) KC_SHUFFLE_FROM(T, M, N, 2) KC_SHUFFLE_FROM(T, M, N, 4) KC_SHUFFLE_FROM(T, M, N, 8) \
  KC_SHUFFLE_FROM(T, M, N, 16)
#define KC_SHUFFLE_FROM(T, M, N, FROM) \
  KC_BUILTIN T##N shuffle(T##FROM x, M##N mask) { \
    T##N r; \
    _Pragma("unroll") for (int i = 0; i < N; i++) r[i] = x[mask[i] & (FROM - 1)]; \
    return r; \
  } \
  KC_BUILTIN T##N shuffle2(T##FROM x, T##FROM y, M##N mask) { \
    T##N r; \
    _Pragma("unroll") for (int i = 0; i < N; i++) \
      r[i] = mask[i] & FROM ? y[mask[i] & (FROM - 1)] : x[mask[i] & (FROM - 1)]; \
    return r; \
  }
KC_SHUFFLES(float, uint) KC_SHUFFLES(int, uint) KC_SHUFFLES(uint, uint) KC_SHUFFLES(char, uchar)
KC_SHUFFLES(uchar, uchar) KC_SHUFFLES(short, ushort) KC_SHUFFLES(ushort, ushort) KC_SHUFFLES(double, ulong)
KC_SHUFFLES(long, ulong) KC_SHUFFLES(ulong, ulong)
