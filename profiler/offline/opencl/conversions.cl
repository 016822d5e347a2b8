// convert_ functions: OpenCL C 3.0, section 6.4.3. Rounding modes of integers to floats change no cost and are left out.
#define KC_PLAIN(D, S, suffix) \
  KC_BUILTIN D convert_##D##suffix(S x) { return (D)x; } \
  KC_BUILTIN D##2 convert_##D##2##suffix(S##2 x) { return __builtin_convertvector(x, D##2); } \
  KC_BUILTIN D##3 convert_##D##3##suffix(S##3 x) { return __builtin_convertvector(x, D##3); } \
  KC_BUILTIN D##4 convert_##D##4##suffix(S##4 x) { return __builtin_convertvector(x, D##4); } \
  KC_BUILTIN D##8 convert_##D##8##suffix(S##8 x) { return __builtin_convertvector(x, D##8); } \
  KC_BUILTIN D##16 convert_##D##16##suffix(S##16 x) { return __builtin_convertvector(x, D##16); }
#define KC_ROUNDED(D, S, suffix, round) \
  KC_BUILTIN D convert_##D##suffix(S x) { return (D)round(x); } \
  KC_BUILTIN D##2 convert_##D##2##suffix(S##2 x) { return __builtin_convertvector(round(x), D##2); } \
  KC_BUILTIN D##3 convert_##D##3##suffix(S##3 x) { return __builtin_convertvector(round(x), D##3); } \
  KC_BUILTIN D##4 convert_##D##4##suffix(S##4 x) { return __builtin_convertvector(round(x), D##4); } \
  KC_BUILTIN D##8 convert_##D##8##suffix(S##8 x) { return __builtin_convertvector(round(x), D##8); } \
  KC_BUILTIN D##16 convert_##D##16##suffix(S##16 x) { return __builtin_convertvector(round(x), D##16); }
#define KC_SATURATED(D, S, suffix, value) \
  KC_BUILTIN D convert_##D##_sat##suffix(S x) { return value; } \
  KC_BUILTIN D##2 convert_##D##2_sat##suffix(S##2 x) { \
    return (D##2)(convert_##D##_sat##suffix(x.x), convert_##D##_sat##suffix(x.y)); \
  } \
  KC_BUILTIN D##3 convert_##D##3_sat##suffix(S##3 x) { \
    return (D##3)(convert_##D##_sat##suffix(x.x), convert_##D##_sat##suffix(x.y), convert_##D##_sat##suffix(x.z)); \
  } \
  KC_BUILTIN D##4 convert_##D##4_sat##suffix(S##4 x) { \
    return (D##4)(convert_##D##2_sat##suffix(x.lo), convert_##D##2_sat##suffix(x.hi)); \
  } \
  KC_BUILTIN D##8 convert_##D##8_sat##suffix(S##8 x) { \
    return (D##8)(convert_##D##4_sat##suffix(x.lo), convert_##D##4_sat##suffix(x.hi)); \
  } \
  KC_BUILTIN D##16 convert_##D##16_sat##suffix(S##16 x) { \
    return (D##16)(convert_##D##8_sat##suffix(x.lo), convert_##D##8_sat##suffix(x.hi)); \
  }
#define KC_ALL_MODES(D, S) \
  KC_PLAIN(D, S, ) KC_PLAIN(D, S, _rte) KC_PLAIN(D, S, _rtz) KC_PLAIN(D, S, _rtp) KC_PLAIN(D, S, _rtn)

#define KC_TO_INT_FROM_INT(D, S, value) \
  KC_ALL_MODES(D, S) KC_SATURATED(D, S, , value) KC_SATURATED(D, S, _rte, value) KC_SATURATED(D, S, _rtz, value)
#define KC_TO_INT_FROM_FLOAT(D, S, LOW, HIGH) \
  KC_PLAIN(D, S, ) KC_PLAIN(D, S, _rtz) KC_ROUNDED(D, S, _rte, rint) KC_ROUNDED(D, S, _rtp, ceil) \
  KC_ROUNDED(D, S, _rtn, floor) \
  KC_SATURATED(D, S, , (D)fmin(fmax(x, (S)LOW), (S)HIGH)) KC_SATURATED(D, S, _rtz, (D)fmin(fmax(x, (S)LOW), (S)HIGH)) \
  KC_SATURATED(D, S, _rte, (D)fmin(fmax(rint(x), (S)LOW), (S)HIGH)) \
  KC_SATURATED(D, S, _rtp, (D)fmin(fmax(ceil(x), (S)LOW), (S)HIGH)) \
  KC_SATURATED(D, S, _rtn, (D)fmin(fmax(floor(x), (S)LOW), (S)HIGH))
#define KC_NARROW(D, LOW, HIGH) \
  KC_TO_INT_FROM_INT(D, char, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, uchar, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, short, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, ushort, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, int, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, uint, (D)clamp((long)x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, long, (D)clamp(x, (long)LOW, (long)HIGH)) \
  KC_TO_INT_FROM_INT(D, ulong, (D)min(x, (ulong)HIGH)) \
  KC_TO_INT_FROM_FLOAT(D, float, LOW, HIGH) KC_TO_INT_FROM_FLOAT(D, double, LOW, HIGH) \
  KC_TO_INT_FROM_FLOAT(D, half, LOW, HIGH)
KC_NARROW(char, SCHAR_MIN, SCHAR_MAX) KC_NARROW(uchar, 0, UCHAR_MAX) KC_NARROW(short, SHRT_MIN, SHRT_MAX)
KC_NARROW(ushort, 0, USHRT_MAX) KC_NARROW(int, INT_MIN, INT_MAX) KC_NARROW(uint, 0, UINT_MAX)
#define KC_TO_LONG(S) KC_TO_INT_FROM_INT(long, S, (long)x)
KC_TO_LONG(char) KC_TO_LONG(uchar) KC_TO_LONG(short) KC_TO_LONG(ushort) KC_TO_LONG(int) KC_TO_LONG(uint) KC_TO_LONG(long)
KC_TO_INT_FROM_INT(long, ulong, (long)min(x, (ulong)LONG_MAX))
#define KC_TO_ULONG(S) KC_TO_INT_FROM_INT(ulong, S, (ulong)max(x, (S)0))
KC_EACH_INT(KC_TO_ULONG)
#define KC_WIDE_FROM(S) \
  KC_TO_INT_FROM_FLOAT(long, S, LONG_MIN, LONG_MAX) KC_TO_INT_FROM_FLOAT(ulong, S, 0, ULONG_MAX)
KC_WIDE_FROM(float) KC_WIDE_FROM(double) KC_WIDE_FROM(half)
#define KC_TO_FLOATS(S) KC_ALL_MODES(float, S) KC_ALL_MODES(double, S) KC_ALL_MODES(half, S)
KC_EACH_INT(KC_TO_FLOATS) KC_TO_FLOATS(float) KC_TO_FLOATS(double) KC_TO_FLOATS(half)
