/* Kernels and their arguments. A hash of the arguments is updated with each argument that is set. */
#include "layer.h"

#include <stdlib.h>

static struct table kernels;

static enum class class_of(cl_kernel handle, cl_uint index) {
    cl_uint address = 0, access = CL_KERNEL_ARG_ACCESS_NONE;
    char type[64] = "";
    pointer_clGetKernelArgInfo ask = NEXT(clGetKernelArgInfo);
    if (ask(handle, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL) != CL_SUCCESS)
        return CLASS_UNKNOWN;
    ask(handle, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
    ask(handle, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL);
    if (address == CL_KERNEL_ARG_ADDRESS_LOCAL)
        return CLASS_LOCAL;
    if (strcmp(type, "sampler_t") == 0)
        return CLASS_SAMPLER;
    bool is_memory = address == CL_KERNEL_ARG_ADDRESS_GLOBAL || address == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
                     access != CL_KERNEL_ARG_ACCESS_NONE;
    return is_memory ? CLASS_MEMORY : CLASS_VALUE;
}

static struct function *find_function(struct build *build, const char *name) {
    struct function *function = build->functions;
    while (function != NULL && strcmp(function->name, name) != 0)
        function = function->next;
    return function;
}

/* Return the function of a kernel object, or NULL if it cannot be found out. */
static struct function *function_of(cl_kernel handle, cl_program program) {
    struct build *build = program_build(program);
    if (build == NULL)
        return NULL;
    char name[4096] = "";
    NEXT(clGetKernelInfo)(handle, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
    lock();
    struct function *function = find_function(build, name);
    unlock();
    if (function != NULL)
        return function;
    cl_uint arguments = 0;
    NEXT(clGetKernelInfo)(handle, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
    struct function *created = calloc(1, sizeof *created);
    unsigned char *classes = calloc(arguments + 1, 1);
    char *kept = strdup(name);
    if (created == NULL || classes == NULL || kept == NULL) {
        free(created), free(classes), free(kept);
        return NULL;
    }
    for (cl_uint i = 0; i < arguments; i++)
        classes[i] = (unsigned char)class_of(handle, i);
    *created = (struct function){NULL, build, kept, arguments, classes, 0};
    lock();
    function = find_function(build, name);
    if (function == NULL) {
        created->next = build->functions;
        build->functions = created;
    }
    unlock();
    if (function == NULL)
        return created;
    free(created), free(classes), free(kept);
    return function;
}

static void free_kernel(struct kernel *kernel) {
    for (cl_uint i = 0; kernel != NULL && i < kernel->function->arguments; i++)
        free(kernel->arguments[i].large);
    free(kernel);
}

/* Hash what the log has of an argument. Which memory object it is does not count. */
static void hash_argument(struct argument *argument, cl_uint index) {
    const struct memory *memory = &argument->memory;
    uint64_t hash = mix((uint64_t)index << 8 | argument->kind, argument->bytes);
    if (argument->kind == IMAGE)
        hash = mix_bytes(mix(hash, (uint64_t)memory->order << 32 | memory->type), memory->size, sizeof memory->size);
    argument->shape = argument->state = hash;
    if (argument->kind == VALUE)
        argument->state =
            mix_bytes(hash, argument->large == NULL ? argument->small : argument->large, argument->bytes);
}

/* Before and after an argument changes. Hashes are combined by exclusive or, so the other arguments are not read. */
static struct argument *begin_change(struct kernel *kernel, cl_uint index) {
    struct argument *argument = &kernel->arguments[index];
    kernel->state ^= argument->state;
    kernel->shape ^= argument->shape;
    free(argument->large);
    argument->large = NULL;
    return argument;
}

static void end_change(struct kernel *kernel, cl_uint index) {
    struct argument *argument = &kernel->arguments[index];
    hash_argument(argument, index);
    kernel->state ^= argument->state;
    kernel->shape ^= argument->shape;
}

static void copy_arguments(struct kernel *kernel, const struct kernel *original) {
    for (cl_uint i = 0; i < kernel->function->arguments; i++) {
        const struct argument *from = &original->arguments[i];
        struct argument *argument = begin_change(kernel, i);
        *argument = *from;
        if (from->large != NULL && (argument->large = malloc(from->bytes)) != NULL)
            memcpy(argument->large, from->large, from->bytes);
        else if (from->large != NULL)
            argument->kind = UNSET;
        end_change(kernel, i);
    }
}

/* Add a kernel. `like` is the kernel whose arguments it has (clCloneKernel), or NULL if none is set. */
static void remember(cl_kernel handle, struct function *function, uint32_t references, cl_kernel like) {
    if (function == NULL)
        return;
    struct kernel *kernel = calloc(1, sizeof *kernel + function->arguments * sizeof *kernel->arguments);
    if (kernel == NULL)
        return;
    *kernel = (struct kernel){.references = references, .function = function};
    lock();
    struct kernel *original = like == NULL ? NULL : table_get(&kernels, HANDLE(like));
    if (original != NULL && original->function->arguments == function->arguments)
        copy_arguments(kernel, original);
    free_kernel(table_put(&kernels, HANDLE(handle), kernel));
    unlock();
}

/* Take the lock and return the kernel's entry, or NULL if there is none. */
struct kernel *lock_with_kernel(cl_kernel handle) {
    lock();
    struct kernel *kernel = table_get(&kernels, HANDLE(handle));
    if (kernel != NULL || handle == NULL)
        return kernel;
    unlock(); /* it was not created through the layer, or the handle is invalid */
    cl_program program = NULL;
    cl_uint references = 1;
    if (NEXT(clGetKernelInfo)(handle, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) == CL_SUCCESS) {
        NEXT(clGetKernelInfo)(handle, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL);
        remember(handle, function_of(handle, program), references, NULL);
    }
    lock();
    return table_get(&kernels, HANDLE(handle));
}

static void set_memory(struct argument *argument, cl_mem handle, const struct memory *memory) {
    argument->kind = memory->is_image ? IMAGE : BUFFER;
    argument->handle = handle;
    argument->memory = *memory;
    argument->bytes = memory->bytes;
}

static void set_value(struct argument *argument, size_t bytes, const void *value) {
    argument->kind = VALUE;
    argument->bytes = bytes;
    unsigned char *at = argument->small;
    if (bytes > sizeof argument->small)
        at = argument->large = malloc(bytes);
    if (at == NULL)
        argument->kind = UNSET;
    else
        memcpy(at, value, bytes);
}

/* Record the value of an argument. Return false for a memory object that has no entry yet. */
static bool set_argument(struct argument *argument, enum class class, size_t bytes, const void *value) {
    cl_mem handle = NULL;
    if (value != NULL && bytes == sizeof handle)
        memcpy(&handle, value, sizeof handle);
    struct memory *memory = handle != NULL && class != CLASS_VALUE ? known_memory(handle) : NULL;
    argument->bytes = bytes;
    if (memory != NULL)
        set_memory(argument, handle, memory);
    else if (class == CLASS_MEMORY)
        argument->kind = NULL_BUFFER;
    else if (class == CLASS_LOCAL || value == NULL)
        argument->kind = LOCAL;
    else if (class == CLASS_SAMPLER || (class == CLASS_UNKNOWN && handle != NULL && known_sampler((cl_sampler)handle)))
        argument->kind = SAMPLER;
    else
        set_value(argument, bytes, value);
    return argument->kind != NULL_BUFFER || handle == NULL;
}

/* Record an argument; the caller holds the lock. Return false where `set_argument` does. */
static bool change_argument(struct kernel *kernel, cl_uint index, size_t bytes, const void *value) {
    if (kernel == NULL || index >= kernel->function->arguments)
        return true;
    struct argument *argument = begin_change(kernel, index);
    bool known = set_argument(argument, kernel->function->classes[index], bytes, value);
    end_change(kernel, index);
    return known;
}

cl_int layer_clSetKernelArg(cl_kernel handle, cl_uint index, size_t bytes, const void *value) {
    cl_int result = NEXT(clSetKernelArg)(handle, index, bytes, value);
    if (result != CL_SUCCESS)
        return result;
    bool known = change_argument(lock_with_kernel(handle), index, bytes, value);
    unlock();
    if (known)
        return result;
    remember_memory(*(const cl_mem *)value, false); /* made by OpenGL interoperability or an extension */
    change_argument(lock_with_kernel(handle), index, bytes, value);
    unlock();
    return result;
}

cl_int layer_clSetKernelArgSVMPointer(cl_kernel handle, cl_uint index, const void *pointer) {
    cl_int result = NEXT(clSetKernelArgSVMPointer)(handle, index, pointer);
    if (result != CL_SUCCESS)
        return result;
    struct kernel *kernel = lock_with_kernel(handle);
    if (kernel != NULL && index < kernel->function->arguments) {
        struct argument *argument = begin_change(kernel, index);
        argument->kind = pointer == NULL ? NULL_BUFFER : SVM;
        argument->bytes = svm_bytes(pointer);
        end_change(kernel, index);
    }
    unlock();
    return result;
}

void text_argument(struct text *text, const struct argument *argument) {
    const struct memory *memory = &argument->memory;
    switch (argument->kind) {
    case BUFFER:
        text_format(text, "{\"kind\": \"buffer\", \"bytes\": %llu}", (unsigned long long)memory->bytes);
        break;
    case IMAGE:
        text_format(text, "{\"kind\": \"image\", \"size\": [%u, %u, %u], ", memory->size[0], memory->size[1],
                    memory->size[2]);
        text_channels(text, memory);
        text_format(text, "}");
        break;
    case LOCAL:
        text_format(text, "{\"kind\": \"local\", \"bytes\": %llu}", (unsigned long long)argument->bytes);
        break;
    case VALUE:
        text_format(text, "{\"kind\": \"value\", \"hex\": \"");
        text_hex(text, argument->large == NULL ? argument->small : argument->large, argument->bytes);
        text_format(text, "\"}");
        break;
    case SAMPLER:
        text_format(text, "{\"kind\": \"sampler\"}");
        break;
    case SVM:
        if (argument->bytes > 0)
            text_format(text, "{\"kind\": \"svm\", \"bytes\": %llu}", (unsigned long long)argument->bytes);
        else
            text_format(text, "{\"kind\": \"svm\", \"bytes\": null}");
        break;
    case NULL_BUFFER:
        text_format(text, "{\"kind\": \"null\"}");
        break;
    case UNSET:
        text_format(text, "{\"kind\": \"unset\"}");
        break;
    }
}

cl_kernel layer_clCreateKernel(cl_program program, const char *name, cl_int *error) {
    cl_kernel handle = NEXT(clCreateKernel)(program, name, error);
    if (handle != NULL)
        remember(handle, function_of(handle, program), 1, NULL);
    return handle;
}

cl_int layer_clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel *handles, cl_uint *actual) {
    cl_uint created = 0;
    cl_int result = NEXT(clCreateKernelsInProgram)(program, count, handles, &created);
    if (result == CL_SUCCESS && actual != NULL)
        *actual = created;
    for (cl_uint i = 0; result == CL_SUCCESS && handles != NULL && i < created; i++)
        remember(handles[i], function_of(handles[i], program), 1, NULL);
    return result;
}

cl_kernel layer_clCloneKernel(cl_kernel original, cl_int *error) {
    cl_kernel handle = NEXT(clCloneKernel)(original, error);
    if (handle == NULL)
        return handle;
    struct kernel *kernel = lock_with_kernel(original);
    struct function *function = kernel == NULL ? NULL : kernel->function;
    unlock();
    remember(handle, function, 1, original);
    return handle;
}

cl_int layer_clRetainKernel(cl_kernel handle) {
    cl_int result = NEXT(clRetainKernel)(handle);
    lock();
    struct kernel *kernel = result == CL_SUCCESS ? table_get(&kernels, HANDLE(handle)) : NULL;
    if (kernel != NULL)
        kernel->references++;
    unlock();
    return result;
}

/* Forget it before the release: afterwards another thread may get the same handle for a new kernel. */
cl_int layer_clReleaseKernel(cl_kernel handle) {
    lock();
    struct kernel *kernel = table_get(&kernels, HANDLE(handle));
    if (kernel != NULL && --kernel->references == 0)
        free_kernel(table_remove(&kernels, HANDLE(handle)));
    unlock();
    return NEXT(clReleaseKernel)(handle);
}
