// The functions that OpenCL C programs call, as one module of bitcode for each family of targets.
// What is compiled with it is never run: it must cost what a vendor's library costs, in registers and instructions.
#include "base.h"
#include "widths.h"
#include "elementwise.cl"
#ifndef __NVPTX__
#define KC_HAS_GENERIC  // its own functions; NVIDIA's generic pointers are named as private ones
#endif
#ifdef __NVPTX__
#include "items_nvptx.cl"
#include "scalar_nvptx.cl"
#include "images_nvptx.cl"
#else
#include "items_amdgcn.cl"
#include "scalar_amdgcn.cl"
#include "images_amdgcn.cl"
#endif
#include "math.cl"
#include "integers.cl"
#include "conversions.cl"
#include "memory.cl"
#include "images.cl"
