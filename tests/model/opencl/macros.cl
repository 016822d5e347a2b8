// What macros and conditions make of texts. `//?` asks for the value of an expression behind all of this,
// in which `$` is a new line. Texts are told apart by their sizes. Macros of one case have names of their own.

// --- a macro without a text
#define EMPTY
//? EMPTY 3 EMPTY
//? sizeof(int EMPTY)

// --- defined
#define A1 0
#if defined(A1) && !defined B1 && defined  A1
#define A2 1
#else
#define A2 2
#endif
//? A2

// --- conditions
#define LEVEL 2
#if LEVEL == 1
#define C 1
#elif LEVEL == 2
#define C 2
#elif LEVEL == 2
#define C 3
#else
#define C 4
#endif
//? C

// --- conditions in conditions
#ifdef D0
#if 1
#define D 1
#endif
#elif 1
#ifndef D0
#if 0
#elif 0
#else
#define D 2
#endif
#endif
#else
#define D 3
#endif
//? D

// --- arithmetic in conditions
#if (1 << 4) - 1 == 0xF && -1 < 0 && 7 / 2 * 2 == 6 && (5 ^ 3) == 6 && ~0 == -1 && !0 && 10 % 4 == 2
#define E1 1
#else
#define E1 0
#endif
#if (1 ? 2 : 3) == 2 && 'A' == 65 && '\n' == 10 && '\x41' == 65
#define E2 1
#else
#define E2 0
#endif
#if -1 > 0u
#define E3 1
#else
#define E3 0
#endif
#if UNKNOWN_NAME || unknown_name == 0 && 0x10UL == 16 && 10L == 10
#define E4 1
#else
#define E4 0
#endif
#if 0 && (1 / 0)
#define E5 1
#else
#define E5 0
#endif
#if 2147483647 + 1 > 0 && 010 == 8 && 3 >> 1 == 1
#define E6 1
#else
#define E6 0
#endif
//? E1
//? E2
//? E3
//? E4
//? E5
//? E6

// --- conditions over calls
#define AT_LEAST(a, b) ((a) >= (b))
#define NOW 3
#if AT_LEAST(NOW, 2)
#define F 1
#else
#define F 0
#endif
//? F

// --- a macro redefined midway
#define G 1
__constant int g1 = G;
#undef G
#define G 2
__constant int g2 = G;
#undef G
//? g1
//? g2

// --- a macro that names a later one
#define H1 H2
#define H2 7
//? H1

// --- a macro that names itself
__constant int I1 = 5, I2 = 20;
#define I1 (I1 + 1)
#define I2 I3
#define I3 I2 + I1
//? I1
//? I2

// --- a call in its own argument
#define J(x) ((x) + 1)
//? J(J(J(1)))
//? J (2)
//? J$(3)

// --- a macro that gives the name of another
#define K(x) ((x) * 3)
#define K2 K
#define K3(f) f(2)
//? K2(4)
//? K3(K)
//? K2 (1)

// --- text of an argument
#define M1(x) #x
#define M2(x) M1(x)
#define M3 abc
//? sizeof(M1(M3))
//? sizeof(M2(M3))
//? sizeof(M1(a   +   b))
//? sizeof(M1(  a  ))
//? sizeof(M1("q\n"))
//? sizeof(M1(a /* c */ b))
//? sizeof(M1())
//? sizeof(M1('"'))
//? sizeof(M2(M3 M3))

// --- tokens pasted together
#define N1(a, b) a##b
#define N2(a, b) N1(a, b)
#define N3 4
#define N12 99
#define N4(x) N1(x, )
__constant int N34 = 34, xN3 = 1;
//? N1(1, 2)
//? N2(N3, N3)
//? N1(N, 12)
//? N1(x, N3)
//? N1(0x, ff)
//? N4(5)
//? N1(, 6)
//? N2(N1(1, 2), 3)

// --- any number of arguments
#define O1(...) (0, __VA_ARGS__)
#define O2(a, ...) O3(a, ##__VA_ARGS__)
#define O3(...) sizeof(#__VA_ARGS__)
#define O4(_1, _2, _3, n, ...) n
#define O5(...) O4(__VA_ARGS__, 3, 2, 1)
#define O6(x...) (0 + x)
#define O7(a, ...) a __VA_ARGS__
//? O1(1, 2, 3)
//? O2(1)
//? O2(1, 2)
//? O2(1, 2,3)
//? O3()
//? O3(a,b)
//? O5(a)
//? O5(a, b)
//? O5(a, b, c)
//? O6(4)
//? O7(1, + 2)
//? O7(6)

// --- commas in parentheses
#define P(a, b) (a + b)
#define P1(a) P a
//? P((1, 2), (3))
//? P1((1, 2))

// --- a table of macros
#define Q_ALL(X) X(RED, 3) X(GREEN, 5) X(BLUE, 7)
#define Q_ENUM(n, v) Q_##n = v,
enum { Q_ALL(Q_ENUM) Q_END };
#define Q_SUM(n, v) + v
#define Q_COUNT(n, v) + 1
#define Q_NAME(n, v) #n
//? Q_GREEN
//? Q_END
//? 0 Q_ALL(Q_SUM)
//? 0 Q_ALL(Q_COUNT)
//? sizeof(Q_ALL(Q_NAME))

// --- lines continued
#define R1(x) \
    ((x) + \
     1)
#def\
ine R2 8
#if defined(R2) \
    && R2 == 8
#define R3 1
#endif
//? R1(2)
//? R2
//? R3
//? sizeof("ab\$cd")

// --- comments
#define S1 /* one */ 1 // two
#define S2(x) x /* across
lines */ + 1
#/* here */define S3 3
//? S1
//? S2(/* a, b */ 2)
//? S2(3 // three$)
//? S3
//? 1 /**/ + /***/ 2

// --- lines and files
__constant int t1 = __LINE__;
#line 500
__constant int t2 = __LINE__;
#define T __LINE__
__constant int t3 =
  T;
//? t2 > 0
//? __LINE__ > 0
//? sizeof(__FILE__) > 0

// --- a macro with a keyword's name
#define inline_me static
#define U1 const
__constant U1 int u = 4;
//? u

// --- parentheses that are not a call
#define V() 3
#define V1 (4)
#define V2(x) x
//? V()
//? V1
//? V( )
//? V2()5

// --- calls inside calls
#define W1(x, y) ((x) > (y) ? (x) : (y))
#define W2(a) W1(a, W1(a + 1, 2))
#define W3(...) W1(__VA_ARGS__)
//? W2(3)
//? W1(W2(1), W2(5))
//? W3(1, 2)

// --- what OpenCL C defines
//? __OPENCL_VERSION__ >= 120
//? __ENDIAN_LITTLE__
//? __IMAGE_SUPPORT__
//? CL_VERSION_1_0
//? CL_VERSION_1_1
//? CL_VERSION_1_2
//? CHAR_BIT
//? INT_MIN
//? UINT_MAX
//? SHRT_MAX
//? FLT_DIG
//? FLT_MANT_DIG
//? FLT_MAX_EXP
//? FLT_MIN_EXP
//? FLT_RADIX
//? FLT_MAX_10_EXP
//? FLT_MIN_10_EXP
//? DBL_DIG
//? DBL_MANT_DIG
//? DBL_MAX_EXP
//? DBL_MIN_EXP
//? DBL_MAX_10_EXP
//? DBL_MIN_10_EXP
//? FP_ILOGB0
//? CLK_LOCAL_MEM_FENCE
//? CLK_GLOBAL_MEM_FENCE
