// The functions that OpenCL C programs call, as a few modules of bitcode for each family of targets.
// What is compiled with it is never run: it must cost what a vendor's library costs, in registers and instructions.
// KC_CONVERSIONS and KC_MEMORY are modules of their own, since linking takes as long as a module has functions; what
// they use of the others is inlined.
#include "base.h"
#include "widths.h"
#if defined(KC_CONVERSIONS) || defined(KC_MEMORY)
#pragma push_macro("KC_BUILTIN")
#undef KC_BUILTIN
#define KC_BUILTIN static __attribute__((overloadable, always_inline, convergent))
#endif
#include "elementwise.cl"
#ifndef __NVPTX__
#define KC_HAS_GENERIC  // its own functions; NVIDIA's generic pointers are named as private ones
#endif
#ifdef __NVPTX__
#include "items_nvptx.cl"
#include "scalar_nvptx.cl"
#else
#include "items_amdgcn.cl"
#include "scalar_amdgcn.cl"
#endif
#include "math.cl"
#include "integers.cl"
#ifdef KC_MEMORY
#include "conversions.cl"
#endif
#if defined(KC_CONVERSIONS) || defined(KC_MEMORY)
#pragma pop_macro("KC_BUILTIN")
#endif
#ifdef KC_CONVERSIONS
#include "conversions.cl"
#endif
#ifdef KC_MEMORY
#ifdef __NVPTX__
#include "images_nvptx.cl"
#else
#include "images_amdgcn.cl"
#endif
#include "memory.cl"
#include "images.cl"
#endif
