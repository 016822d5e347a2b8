// How a function of scalars becomes one of vectors: by components.
#define KC_BUILTIN __attribute__((overloadable, always_inline, convergent))

#define KC_MAP1(R, T, f) \
  KC_BUILTIN R##2 f(T##2 x) { return (R##2)(f(x.x), f(x.y)); } \
  KC_BUILTIN R##3 f(T##3 x) { return (R##3)(f(x.x), f(x.y), f(x.z)); } \
  KC_BUILTIN R##4 f(T##4 x) { return (R##4)(f(x.lo), f(x.hi)); } \
  KC_BUILTIN R##8 f(T##8 x) { return (R##8)(f(x.lo), f(x.hi)); } \
  KC_BUILTIN R##16 f(T##16 x) { return (R##16)(f(x.lo), f(x.hi)); }
#define KC_MAP2(R, T, U, f) \
  KC_BUILTIN R##2 f(T##2 x, U##2 y) { return (R##2)(f(x.x, y.x), f(x.y, y.y)); } \
  KC_BUILTIN R##3 f(T##3 x, U##3 y) { return (R##3)(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z)); } \
  KC_BUILTIN R##4 f(T##4 x, U##4 y) { return (R##4)(f(x.lo, y.lo), f(x.hi, y.hi)); } \
  KC_BUILTIN R##8 f(T##8 x, U##8 y) { return (R##8)(f(x.lo, y.lo), f(x.hi, y.hi)); } \
  KC_BUILTIN R##16 f(T##16 x, U##16 y) { return (R##16)(f(x.lo, y.lo), f(x.hi, y.hi)); }
#define KC_MAP3(R, T, U, V, f) \
  KC_BUILTIN R##2 f(T##2 x, U##2 y, V##2 z) { return (R##2)(f(x.x, y.x, z.x), f(x.y, y.y, z.y)); } \
  KC_BUILTIN R##3 f(T##3 x, U##3 y, V##3 z) { \
    return (R##3)(f(x.x, y.x, z.x), f(x.y, y.y, z.y), f(x.z, y.z, z.z)); \
  } \
  KC_BUILTIN R##4 f(T##4 x, U##4 y, V##4 z) { return (R##4)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); } \
  KC_BUILTIN R##8 f(T##8 x, U##8 y, V##8 z) { return (R##8)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); } \
  KC_BUILTIN R##16 f(T##16 x, U##16 y, V##16 z) { return (R##16)(f(x.lo, y.lo, z.lo), f(x.hi, y.hi, z.hi)); }
// The second or third argument is a scalar for all components.
#define KC_MAP2_SCALAR(T, S, f) \
  KC_BUILTIN T##2 f(T##2 x, S y) { return f(x, (S##2)(y)); } \
  KC_BUILTIN T##3 f(T##3 x, S y) { return f(x, (S##3)(y)); } \
  KC_BUILTIN T##4 f(T##4 x, S y) { return f(x, (S##4)(y)); } \
  KC_BUILTIN T##8 f(T##8 x, S y) { return f(x, (S##8)(y)); } \
  KC_BUILTIN T##16 f(T##16 x, S y) { return f(x, (S##16)(y)); }
#define KC_MAP3_SCALARS(T, f) \
  KC_BUILTIN T##2 f(T##2 x, T y, T z) { return f(x, (T##2)(y), (T##2)(z)); } \
  KC_BUILTIN T##3 f(T##3 x, T y, T z) { return f(x, (T##3)(y), (T##3)(z)); } \
  KC_BUILTIN T##4 f(T##4 x, T y, T z) { return f(x, (T##4)(y), (T##4)(z)); } \
  KC_BUILTIN T##8 f(T##8 x, T y, T z) { return f(x, (T##8)(y), (T##8)(z)); } \
  KC_BUILTIN T##16 f(T##16 x, T y, T z) { return f(x, (T##16)(y), (T##16)(z)); }

#define KC_EACH_INT(X) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#define KC_EACH_WIDTH(X, T) X(T) X(T##2) X(T##3) X(T##4) X(T##8) X(T##16)
