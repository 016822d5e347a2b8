/* The part of OpenCL's binary interface that the layer uses, so that it builds without OpenCL headers.
 *
 * Numbers are those of the OpenCL 3.0 specification. The number before a function is its place in the table that the
 * loader hands to a layer (`struct _cl_icd_dispatch`); a test compares it with Khronos' headers where there are any. */
#ifndef KERNELCAST_OPENCL_H
#define KERNELCAST_OPENCL_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef uint64_t cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef struct _cl_sampler *cl_sampler;
typedef void (*program_notify)(cl_program, void *);
typedef void (*svm_notify)(cl_command_queue, cl_uint, void **, void *);
typedef void (*any_function)(void);

enum {
    CL_SUCCESS = 0,
    CL_COMPLETE = 0,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_INVALID_VALUE = -30,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_QUEUE_OUT_OF_ORDER = 1 << 0,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_QUEUE_ON_DEVICE = 1 << 2,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_REFERENCE_COUNT = 0x1092,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
    CL_MEM_WRITE_ONLY = 1 << 1,
    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_COPY_HOST_PTR = 1 << 5,
    CL_MEM_HOST_WRITE_ONLY = 1 << 7,
    CL_MEM_HOST_NO_ACCESS = 1 << 9,
    CL_MEM_OBJECT_IMAGE2D = 0x10F1,
    CL_MEM_OBJECT_IMAGE1D_BUFFER = 0x10F6,
    CL_MEM_TYPE = 0x1100,
    CL_MEM_FLAGS = 0x1101,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_REFERENCE_COUNT = 0x1105,
    CL_IMAGE_FORMAT = 0x1110,
    CL_IMAGE_ELEMENT_SIZE = 0x1111,
    CL_IMAGE_WIDTH = 0x1114,
    CL_IMAGE_HEIGHT = 0x1115,
    CL_IMAGE_DEPTH = 0x1116,
    CL_IMAGE_ARRAY_SIZE = 0x1117,
    CL_PROGRAM_REFERENCE_COUNT = 0x1160,
    CL_PROGRAM_DEVICES = 0x1163,
    CL_PROGRAM_SOURCE = 0x1164,
    CL_PROGRAM_BUILD_OPTIONS = 0x1182,
    CL_KERNEL_FUNCTION_NAME = 0x1190,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_REFERENCE_COUNT = 0x1192,
    CL_KERNEL_PROGRAM = 0x1194,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER = 0x1196,
    CL_KERNEL_ARG_ACCESS_QUALIFIER = 0x1197,
    CL_KERNEL_ARG_TYPE_NAME = 0x1198,
    CL_KERNEL_ARG_ADDRESS_GLOBAL = 0x119B,
    CL_KERNEL_ARG_ADDRESS_LOCAL = 0x119C,
    CL_KERNEL_ARG_ADDRESS_CONSTANT = 0x119D,
    CL_KERNEL_ARG_ACCESS_NONE = 0x11A3,
    CL_EVENT_COMMAND_QUEUE = 0x11D0,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_PROFILING_COMMAND_QUEUED = 0x1280,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_LAYER_API_VERSION = 0x4240,
    CL_LAYER_NAME = 0x4241,
    CL_LAYER_API_VERSION_100 = 100,
};

/* Lists of parameters that several functions share. */
#define QUERY(object) (object, cl_uint, size_t, void *, size_t *)
#define WAITING cl_uint, const cl_event *, cl_event *

/* Functions that the layer calls and does not change. */
#define CALLED_FUNCTIONS(X) \
    X(1, cl_int, clGetPlatformInfo, QUERY(cl_platform_id)) \
    X(3, cl_int, clGetDeviceInfo, QUERY(cl_device_id)) \
    X(20, cl_int, clGetMemObjectInfo, QUERY(cl_mem)) \
    X(21, cl_int, clGetImageInfo, QUERY(cl_mem)) \
    X(32, cl_int, clGetProgramInfo, QUERY(cl_program)) \
    X(33, cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *)) \
    X(39, cl_int, clGetKernelInfo, QUERY(cl_kernel)) \
    X(42, cl_int, clGetEventInfo, QUERY(cl_event)) \
    X(43, cl_int, clRetainEvent, (cl_event)) \
    X(44, cl_int, clReleaseEvent, (cl_event)) \
    X(101, cl_int, clGetKernelArgInfo, (cl_kernel, cl_uint, cl_uint, size_t, void *, size_t *))

/* Functions that the layer intercepts. */
#define HOOKED_FUNCTIONS(X) \
    X(7, cl_int, clReleaseContext, (cl_context)) \
    X(9, cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *)) \
    X(10, cl_int, clRetainCommandQueue, (cl_command_queue)) \
    X(11, cl_int, clReleaseCommandQueue, (cl_command_queue)) \
    X(12, cl_int, clGetCommandQueueInfo, QUERY(cl_command_queue)) \
    X(13, cl_int, clSetCommandQueueProperty, (cl_command_queue, cl_bitfield, cl_uint, cl_bitfield *)) \
    X(14, cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *)) \
    X(15, cl_mem, clCreateImage2D, \
      (cl_context, cl_bitfield, const void *, size_t, size_t, size_t, void *, cl_int *)) \
    X(16, cl_mem, clCreateImage3D, \
      (cl_context, cl_bitfield, const void *, size_t, size_t, size_t, size_t, size_t, void *, cl_int *)) \
    X(17, cl_int, clRetainMemObject, (cl_mem)) \
    X(18, cl_int, clReleaseMemObject, (cl_mem)) \
    X(22, cl_sampler, clCreateSampler, (cl_context, cl_uint, cl_uint, cl_uint, cl_int *)) \
    X(23, cl_int, clRetainSampler, (cl_sampler)) \
    X(24, cl_int, clReleaseSampler, (cl_sampler)) \
    X(26, cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *)) \
    X(27, cl_program, clCreateProgramWithBinary, \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *)) \
    X(28, cl_int, clRetainProgram, (cl_program)) \
    X(29, cl_int, clReleaseProgram, (cl_program)) \
    X(30, cl_int, clBuildProgram, \
      (cl_program, cl_uint, const cl_device_id *, const char *, program_notify, void *)) \
    X(34, cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *)) \
    X(35, cl_int, clCreateKernelsInProgram, (cl_program, cl_uint, cl_kernel *, cl_uint *)) \
    X(36, cl_int, clRetainKernel, (cl_kernel)) \
    X(37, cl_int, clReleaseKernel, (cl_kernel)) \
    X(38, cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *)) \
    X(41, cl_int, clWaitForEvents, (cl_uint, const cl_event *)) \
    X(45, cl_int, clGetEventProfilingInfo, QUERY(cl_event)) \
    X(46, cl_int, clFlush, (cl_command_queue)) \
    X(47, cl_int, clFinish, (cl_command_queue)) \
    X(48, cl_int, clEnqueueReadBuffer, (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, WAITING)) \
    X(49, cl_int, clEnqueueWriteBuffer, (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, WAITING)) \
    X(50, cl_int, clEnqueueCopyBuffer, (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, WAITING)) \
    X(51, cl_int, clEnqueueReadImage, \
      (cl_command_queue, cl_mem, cl_uint, const size_t *, const size_t *, size_t, size_t, void *, WAITING)) \
    X(52, cl_int, clEnqueueWriteImage, \
      (cl_command_queue, cl_mem, cl_uint, const size_t *, const size_t *, size_t, size_t, const void *, WAITING)) \
    X(53, cl_int, clEnqueueCopyImage, \
      (cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, WAITING)) \
    X(54, cl_int, clEnqueueCopyImageToBuffer, \
      (cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, size_t, WAITING)) \
    X(55, cl_int, clEnqueueCopyBufferToImage, \
      (cl_command_queue, cl_mem, cl_mem, size_t, const size_t *, const size_t *, WAITING)) \
    X(56, void *, clEnqueueMapBuffer, \
      (cl_command_queue, cl_mem, cl_uint, cl_bitfield, size_t, size_t, WAITING, cl_int *)) \
    X(57, void *, clEnqueueMapImage, \
      (cl_command_queue, cl_mem, cl_uint, cl_bitfield, const size_t *, const size_t *, size_t *, size_t *, WAITING, \
       cl_int *)) \
    X(58, cl_int, clEnqueueUnmapMemObject, (cl_command_queue, cl_mem, void *, WAITING)) \
    X(59, cl_int, clEnqueueNDRangeKernel, \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, WAITING)) \
    X(60, cl_int, clEnqueueTask, (cl_command_queue, cl_kernel, WAITING)) \
    X(82, cl_mem, clCreateSubBuffer, (cl_mem, cl_bitfield, cl_uint, const void *, cl_int *)) \
    X(84, cl_event, clCreateUserEvent, (cl_context, cl_int *)) \
    X(86, cl_int, clEnqueueReadBufferRect, \
      (cl_command_queue, cl_mem, cl_uint, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, \
       size_t, void *, WAITING)) \
    X(87, cl_int, clEnqueueWriteBufferRect, \
      (cl_command_queue, cl_mem, cl_uint, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, \
       size_t, const void *, WAITING)) \
    X(88, cl_int, clEnqueueCopyBufferRect, \
      (cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, \
       size_t, WAITING)) \
    X(96, cl_mem, clCreateImage, (cl_context, cl_bitfield, const void *, const void *, void *, cl_int *)) \
    X(97, cl_program, clCreateProgramWithBuiltInKernels, \
      (cl_context, cl_uint, const cl_device_id *, const char *, cl_int *)) \
    X(98, cl_int, clCompileProgram, \
      (cl_program, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *, const char **, \
       program_notify, void *)) \
    X(99, cl_program, clLinkProgram, \
      (cl_context, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *, program_notify, void *, \
       cl_int *)) \
    X(102, cl_int, clEnqueueFillBuffer, (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, WAITING)) \
    X(103, cl_int, clEnqueueFillImage, \
      (cl_command_queue, cl_mem, const void *, const size_t *, const size_t *, WAITING)) \
    X(104, cl_int, clEnqueueMigrateMemObjects, (cl_command_queue, cl_uint, const cl_mem *, cl_bitfield, WAITING)) \
    X(105, cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, WAITING)) \
    X(106, cl_int, clEnqueueBarrierWithWaitList, (cl_command_queue, WAITING)) \
    X(123, cl_command_queue, clCreateCommandQueueWithProperties, \
      (cl_context, cl_device_id, const cl_bitfield *, cl_int *)) \
    X(126, void *, clSVMAlloc, (cl_context, cl_bitfield, size_t, cl_uint)) \
    X(127, void, clSVMFree, (cl_context, void *)) \
    X(128, cl_int, clEnqueueSVMFree, (cl_command_queue, cl_uint, void **, svm_notify, void *, WAITING)) \
    X(129, cl_int, clEnqueueSVMMemcpy, (cl_command_queue, cl_uint, void *, const void *, size_t, WAITING)) \
    X(133, cl_sampler, clCreateSamplerWithProperties, (cl_context, const cl_bitfield *, cl_int *)) \
    X(134, cl_int, clSetKernelArgSVMPointer, (cl_kernel, cl_uint, const void *)) \
    X(137, cl_kernel, clCloneKernel, (cl_kernel, cl_int *)) \
    X(138, cl_program, clCreateProgramWithIL, (cl_context, const void *, size_t, cl_int *)) \
    X(146, cl_mem, clCreateBufferWithProperties, \
      (cl_context, const cl_bitfield *, cl_bitfield, size_t, void *, cl_int *)) \
    X(147, cl_mem, clCreateImageWithProperties, \
      (cl_context, const cl_bitfield *, cl_bitfield, const void *, const void *, void *, cl_int *))

#define DECLARE_PLACE(place, result, name, parameters) PLACE_##name = place,
enum { CALLED_FUNCTIONS(DECLARE_PLACE) HOOKED_FUNCTIONS(DECLARE_PLACE) };

#define DECLARE_TYPE(place, result, name, parameters) typedef result(*pointer_##name) parameters;
CALLED_FUNCTIONS(DECLARE_TYPE)
HOOKED_FUNCTIONS(DECLARE_TYPE)

#define DECLARE_HOOK(place, result, name, parameters) result layer_##name parameters;
HOOKED_FUNCTIONS(DECLARE_HOOK)

/* The functions that the program would call without the layer. */
extern any_function next_functions[];
#define NEXT(name) ((pointer_##name)next_functions[PLACE_##name])

#endif
