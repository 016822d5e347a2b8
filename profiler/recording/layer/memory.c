/* Buffers, images, samplers and shared virtual memory: the objects that kernel arguments refer to. */
#include "layer.h"

#include <stdlib.h>

static struct table memories, samplers;

struct memory *known_memory(cl_mem handle) {
    return table_get(&memories, HANDLE(handle));
}

bool known_sampler(cl_sampler handle) {
    return table_get(&samplers, HANDLE(handle)) != NULL;
}

static uint64_t memory_number(cl_mem handle, cl_uint what) {
    size_t number = 0;
    NEXT(clGetMemObjectInfo)(handle, what, sizeof number, &number, NULL);
    return number;
}

static uint32_t image_number(cl_mem handle, cl_uint what) {
    size_t number = 0;
    NEXT(clGetImageInfo)(handle, what, sizeof number, &number, NULL);
    return (uint32_t)number;
}

static void describe_image(cl_mem handle, struct memory *memory) {
    cl_uint format[2] = {0, 0};
    NEXT(clGetImageInfo)(handle, CL_IMAGE_FORMAT, sizeof format, format, NULL);
    memory->order = format[0];
    memory->type = format[1];
    uint32_t layers = image_number(handle, CL_IMAGE_ARRAY_SIZE);
    uint32_t height = image_number(handle, CL_IMAGE_HEIGHT), depth = image_number(handle, CL_IMAGE_DEPTH);
    memory->size[0] = image_number(handle, CL_IMAGE_WIDTH);
    /* The layers of an array are the first axis that a single image does not have. */
    memory->size[1] = height > 0 ? height : layers > 0 ? layers : 1;
    memory->size[2] = depth > 0 ? depth : height > 0 && layers > 0 ? layers : 1;
}

/* Add a memory object. `created`: the program has just created it and holds its only reference. */
void remember_memory(cl_mem handle, bool created) {
    struct memory *memory = calloc(1, sizeof *memory);
    cl_uint type = 0, references = 1;
    if (memory == NULL ||
        NEXT(clGetMemObjectInfo)(handle, CL_MEM_TYPE, sizeof type, &type, NULL) != CL_SUCCESS) {
        free(memory);
        return;
    }
    if (!created)
        NEXT(clGetMemObjectInfo)(handle, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL);
    cl_bitfield flags = 0;
    NEXT(clGetMemObjectInfo)(handle, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    memory->references = references;
    memory->is_image = type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
    memory->readable =
        !memory->is_image && !(flags & (CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS));
    memory->shared = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR);
    memory->written = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    memory->bytes = memory_number(handle, CL_MEM_SIZE);
    if (memory->is_image)
        describe_image(handle, memory);
    lock();
    free(table_put(&memories, HANDLE(handle), memory));
    unlock();
}

void text_channels(struct text *text, const struct memory *image) {
    static const char *const orders[] = {"r",         "a",  "rg",  "ra",   "rgb",   "rgba",          "bgra", "argb",
                                         "intensity", "luminance", "rx",  "rgx",  "rgbx",  "depth", "depth_stencil",
                                         "srgb",      "srgbx",     "srgba", "sbgra", "abgr"};
    static const char *const types[] = {"snorm_int8",      "snorm_int16",     "unorm_int8",      "unorm_int16",
                                        "unorm_short_565", "unorm_short_555", "unorm_int_101010", "signed_int8",
                                        "signed_int16",    "signed_int32",    "unsigned_int8",   "unsigned_int16",
                                        "unsigned_int32",  "half_float",      "float",           "unorm_int24",
                                        "unorm_int_101010_2"};
    uint32_t order = image->order - 0x10B0, type = image->type - 0x10D0;
    text_format(text, "\"channels\": \"%s\", \"type\": \"%s\"",
                order < sizeof orders / sizeof *orders ? orders[order] : "other",
                type < sizeof types / sizeof *types ? types[type] : "other");
}

/* Hooks: each creates the object, then adds it. */

static cl_mem created(cl_mem handle) {
    if (handle != NULL)
        remember_memory(handle, true);
    return handle;
}

cl_mem layer_clCreateBuffer(cl_context context, cl_bitfield flags, size_t bytes, void *host, cl_int *error) {
    if (host == NULL || !(flags & CL_MEM_COPY_HOST_PTR))
        return created(NEXT(clCreateBuffer)(context, flags, bytes, host, error));
    struct call call = command_begin(CREATE, NULL, &(struct facts){NO_NUMBER, BLOCKING | FIRST, bytes}, 0, NULL);
    cl_mem buffer = NEXT(clCreateBuffer)(context, flags, bytes, host, error);
    command_end(&call, buffer == NULL ? CL_INVALID_VALUE : CL_SUCCESS);
    return created(buffer);
}

cl_mem layer_clCreateBufferWithProperties(cl_context context, const cl_bitfield *properties, cl_bitfield flags,
                                          size_t bytes, void *host, cl_int *error) {
    return created(NEXT(clCreateBufferWithProperties)(context, properties, flags, bytes, host, error));
}

cl_mem layer_clCreateSubBuffer(cl_mem parent, cl_bitfield flags, cl_uint type, const void *region, cl_int *error) {
    return created(NEXT(clCreateSubBuffer)(parent, flags, type, region, error));
}

cl_mem layer_clCreateImage(cl_context context, cl_bitfield flags, const void *format, const void *description,
                           void *host, cl_int *error) {
    return created(NEXT(clCreateImage)(context, flags, format, description, host, error));
}

cl_mem layer_clCreateImageWithProperties(cl_context context, const cl_bitfield *properties, cl_bitfield flags,
                                         const void *format, const void *description, void *host, cl_int *error) {
    return created(NEXT(clCreateImageWithProperties)(context, properties, flags, format, description, host, error));
}

cl_mem layer_clCreateImage2D(cl_context context, cl_bitfield flags, const void *format, size_t width, size_t height,
                             size_t pitch, void *host, cl_int *error) {
    return created(NEXT(clCreateImage2D)(context, flags, format, width, height, pitch, host, error));
}

cl_mem layer_clCreateImage3D(cl_context context, cl_bitfield flags, const void *format, size_t width, size_t height,
                             size_t depth, size_t row_pitch, size_t slice_pitch, void *host, cl_int *error) {
    return created(
        NEXT(clCreateImage3D)(context, flags, format, width, height, depth, row_pitch, slice_pitch, host, error));
}

cl_int layer_clRetainMemObject(cl_mem handle) {
    cl_int result = NEXT(clRetainMemObject)(handle);
    lock();
    struct memory *memory = result == CL_SUCCESS ? known_memory(handle) : NULL;
    if (memory != NULL)
        memory->references++;
    unlock();
    return result;
}

/* Forget it before the release: afterwards another thread may get the same handle for a new object. */
cl_int layer_clReleaseMemObject(cl_mem handle) {
    lock();
    struct memory *memory = known_memory(handle);
    if (memory != NULL && --memory->references == 0)
        free(table_remove(&memories, HANDLE(handle)));
    unlock();
    return NEXT(clReleaseMemObject)(handle);
}

/* A sampler's entry points to its reference count. */

static cl_sampler created_sampler(cl_sampler handle) {
    uint32_t *references = handle == NULL ? NULL : malloc(sizeof *references);
    if (references == NULL)
        return handle;
    *references = 1;
    lock();
    free(table_put(&samplers, HANDLE(handle), references));
    unlock();
    return handle;
}

cl_sampler layer_clCreateSampler(cl_context context, cl_uint normalized, cl_uint addressing, cl_uint filter,
                                 cl_int *error) {
    return created_sampler(NEXT(clCreateSampler)(context, normalized, addressing, filter, error));
}

cl_sampler layer_clCreateSamplerWithProperties(cl_context context, const cl_bitfield *properties, cl_int *error) {
    return created_sampler(NEXT(clCreateSamplerWithProperties)(context, properties, error));
}

cl_int layer_clRetainSampler(cl_sampler handle) {
    cl_int result = NEXT(clRetainSampler)(handle);
    lock();
    uint32_t *references = result == CL_SUCCESS ? table_get(&samplers, HANDLE(handle)) : NULL;
    if (references != NULL)
        ++*references;
    unlock();
    return result;
}

cl_int layer_clReleaseSampler(cl_sampler handle) {
    lock();
    uint32_t *references = table_get(&samplers, HANDLE(handle));
    if (references != NULL && --*references == 0)
        free(table_remove(&samplers, HANDLE(handle)));
    unlock();
    return NEXT(clReleaseSampler)(handle);
}

/* Shared virtual memory: a list, because programs have few allocations and may pass pointers into the middle of one. */

struct svm {
    struct svm *next;
    uintptr_t begin;
    uint64_t bytes;
};
static struct svm *allocations;

/* Return the number of bytes from `pointer` to the end of its allocation, or 0 if it is in none. */
uint64_t svm_bytes(const void *pointer) {
    for (const struct svm *svm = allocations; svm != NULL; svm = svm->next)
        if ((uintptr_t)pointer - svm->begin < svm->bytes)
            return svm->bytes - ((uintptr_t)pointer - svm->begin);
    return 0;
}

void *layer_clSVMAlloc(cl_context context, cl_bitfield flags, size_t bytes, cl_uint alignment) {
    void *pointer = NEXT(clSVMAlloc)(context, flags, bytes, alignment);
    struct svm *svm = pointer == NULL ? NULL : malloc(sizeof *svm);
    if (svm != NULL) {
        lock();
        *svm = (struct svm){allocations, (uintptr_t)pointer, bytes};
        allocations = svm;
        unlock();
    }
    return pointer;
}

static void forget_svm(const void *pointer) {
    lock();
    for (struct svm **at = &allocations; *at != NULL; at = &(*at)->next)
        if ((*at)->begin == (uintptr_t)pointer) {
            struct svm *gone = *at;
            *at = gone->next;
            free(gone);
            break;
        }
    unlock();
}

void layer_clSVMFree(cl_context context, void *pointer) {
    forget_svm(pointer);
    NEXT(clSVMFree)(context, pointer);
}

cl_int layer_clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void **pointers, svm_notify notify, void *data,
                              cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    for (cl_uint i = 0; pointers != NULL && i < count; i++)
        forget_svm(pointers[i]);
    return NEXT(clEnqueueSVMFree)(queue, count, pointers, notify, data, waiting, wait_list, event);
}
