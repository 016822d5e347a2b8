// Types, constants and macros that every OpenCL C program expects. Functions come from clang's -fdeclare-opencl-builtins.
// Source: OpenCL C 3.0, sections 6.3, 6.15.2, 6.15.3, 6.15.12 to 6.15.15.
#ifndef KERNELCAST_BASE_H
#define KERNELCAST_BASE_H

// What a version of the language brings; clang declares the functions that these name.
#if __OPENCL_C_VERSION__ == 200
#define __opencl_c_generic_address_space 1
#define __opencl_c_atomic_order_acq_rel 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_atomic_scope_all_devices 1
#define __opencl_c_read_write_images 1
#define __opencl_c_program_scope_global_variables 1
#define __opencl_c_images 1
#endif
#ifndef __opencl_c_generic_address_space
#define __opencl_c_named_address_space_builtins 1
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define KC_VECTORS(T) \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T T##8 __attribute__((ext_vector_type(8))); \
  typedef T T##16 __attribute__((ext_vector_type(16)));
KC_VECTORS(char)
KC_VECTORS(uchar)
KC_VECTORS(short)
KC_VECTORS(ushort)
KC_VECTORS(int)
KC_VECTORS(uint)
KC_VECTORS(long)
KC_VECTORS(ulong)
KC_VECTORS(float)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
KC_VECTORS(double)
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KC_VECTORS(half)
#endif
#undef KC_VECTORS

#define KC_AS(x, T) __builtin_astype((x), T)
#define as_char(x) KC_AS(x, char)
#define as_char2(x) KC_AS(x, char2)
#define as_char3(x) KC_AS(x, char3)
#define as_char4(x) KC_AS(x, char4)
#define as_char8(x) KC_AS(x, char8)
#define as_char16(x) KC_AS(x, char16)
#define as_uchar(x) KC_AS(x, uchar)
#define as_uchar2(x) KC_AS(x, uchar2)
#define as_uchar3(x) KC_AS(x, uchar3)
#define as_uchar4(x) KC_AS(x, uchar4)
#define as_uchar8(x) KC_AS(x, uchar8)
#define as_uchar16(x) KC_AS(x, uchar16)
#define as_short(x) KC_AS(x, short)
#define as_short2(x) KC_AS(x, short2)
#define as_short3(x) KC_AS(x, short3)
#define as_short4(x) KC_AS(x, short4)
#define as_short8(x) KC_AS(x, short8)
#define as_short16(x) KC_AS(x, short16)
#define as_ushort(x) KC_AS(x, ushort)
#define as_ushort2(x) KC_AS(x, ushort2)
#define as_ushort3(x) KC_AS(x, ushort3)
#define as_ushort4(x) KC_AS(x, ushort4)
#define as_ushort8(x) KC_AS(x, ushort8)
#define as_ushort16(x) KC_AS(x, ushort16)
#define as_int(x) KC_AS(x, int)
#define as_int2(x) KC_AS(x, int2)
#define as_int3(x) KC_AS(x, int3)
#define as_int4(x) KC_AS(x, int4)
#define as_int8(x) KC_AS(x, int8)
#define as_int16(x) KC_AS(x, int16)
#define as_uint(x) KC_AS(x, uint)
#define as_uint2(x) KC_AS(x, uint2)
#define as_uint3(x) KC_AS(x, uint3)
#define as_uint4(x) KC_AS(x, uint4)
#define as_uint8(x) KC_AS(x, uint8)
#define as_uint16(x) KC_AS(x, uint16)
#define as_long(x) KC_AS(x, long)
#define as_long2(x) KC_AS(x, long2)
#define as_long3(x) KC_AS(x, long3)
#define as_long4(x) KC_AS(x, long4)
#define as_long8(x) KC_AS(x, long8)
#define as_long16(x) KC_AS(x, long16)
#define as_ulong(x) KC_AS(x, ulong)
#define as_ulong2(x) KC_AS(x, ulong2)
#define as_ulong3(x) KC_AS(x, ulong3)
#define as_ulong4(x) KC_AS(x, ulong4)
#define as_ulong8(x) KC_AS(x, ulong8)
#define as_ulong16(x) KC_AS(x, ulong16)
#define as_float(x) KC_AS(x, float)
#define as_float2(x) KC_AS(x, float2)
#define as_float3(x) KC_AS(x, float3)
#define as_float4(x) KC_AS(x, float4)
#define as_float8(x) KC_AS(x, float8)
#define as_float16(x) KC_AS(x, float16)
#define as_double(x) KC_AS(x, double)
#define as_double2(x) KC_AS(x, double2)
#define as_double3(x) KC_AS(x, double3)
#define as_double4(x) KC_AS(x, double4)
#define as_double8(x) KC_AS(x, double8)
#define as_double16(x) KC_AS(x, double16)
#define as_half(x) KC_AS(x, half)
#define as_half2(x) KC_AS(x, half2)
#define as_half3(x) KC_AS(x, half3)
#define as_half4(x) KC_AS(x, half4)
#define as_half8(x) KC_AS(x, half8)
#define as_half16(x) KC_AS(x, half16)

#define kernel_exec(X, typen) \
  __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))
#define NULL ((void *)0)

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffU
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define ULONG_MAX 0xffffffffffffffffUL

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define MAXFLOAT 0x1.fffffep127f
#define HUGE_VALF (__builtin_huge_valf())
#define HUGE_VAL (__builtin_huge_val())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MAX

#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_10_EXP 308
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MIN_EXP (-1021)
#define DBL_RADIX 2
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52

#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define HALF_MAX ((0x1.ffcp15h))
#define HALF_MIN ((0x1.0p-14h))
#define HALF_EPSILON ((0x1.0p-10h))

#define M_E 0x1.5bf0a8b145769p+1
#define M_LOG2E 0x1.71547652b82fep+0
#define M_LOG10E 0x1.bcb7b1526e50ep-2
#define M_LN2 0x1.62e42fefa39efp-1
#define M_LN10 0x1.26bb1bbb55516p+1
#define M_PI 0x1.921fb54442d18p+1
#define M_PI_2 0x1.921fb54442d18p+0
#define M_PI_4 0x1.921fb54442d18p-1
#define M_1_PI 0x1.45f306dc9c883p-2
#define M_2_PI 0x1.45f306dc9c883p-1
#define M_2_SQRTPI 0x1.20dd750429b6dp+0
#define M_SQRT2 0x1.6a09e667f3bcdp+0
#define M_SQRT1_2 0x1.6a09e667f3bcdp-1
#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 0x01
#define CLK_GLOBAL_MEM_FENCE 0x02
#define CLK_IMAGE_MEM_FENCE 0x04
typedef enum memory_scope {
  memory_scope_work_item = __OPENCL_MEMORY_SCOPE_WORK_ITEM,
  memory_scope_work_group = __OPENCL_MEMORY_SCOPE_WORK_GROUP,
  memory_scope_device = __OPENCL_MEMORY_SCOPE_DEVICE,
  memory_scope_all_svm_devices = __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES,
  memory_scope_all_devices = memory_scope_all_svm_devices,
  memory_scope_sub_group = __OPENCL_MEMORY_SCOPE_SUB_GROUP
} memory_scope;
typedef enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;
#define ATOMIC_VAR_INIT(x) (x)
#define ATOMIC_FLAG_INIT 0

#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_FILTER_NEAREST 0x10
#define CLK_FILTER_LINEAR 0x20

#define CLK_SNORM_INT8 0x10D0
#define CLK_SNORM_INT16 0x10D1
#define CLK_UNORM_INT8 0x10D2
#define CLK_UNORM_INT16 0x10D3
#define CLK_UNORM_SHORT_565 0x10D4
#define CLK_UNORM_SHORT_555 0x10D5
#define CLK_UNORM_INT_101010 0x10D6
#define CLK_SIGNED_INT8 0x10D7
#define CLK_SIGNED_INT16 0x10D8
#define CLK_SIGNED_INT32 0x10D9
#define CLK_UNSIGNED_INT8 0x10DA
#define CLK_UNSIGNED_INT16 0x10DB
#define CLK_UNSIGNED_INT32 0x10DC
#define CLK_HALF_FLOAT 0x10DD
#define CLK_FLOAT 0x10DE
#define CLK_R 0x10B0
#define CLK_A 0x10B1
#define CLK_RG 0x10B2
#define CLK_RA 0x10B3
#define CLK_RGB 0x10B4
#define CLK_RGBA 0x10B5
#define CLK_BGRA 0x10B6
#define CLK_ARGB 0x10B7
#define CLK_INTENSITY 0x10B8
#define CLK_LUMINANCE 0x10B9

int printf(__constant const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
