/* Programs: the source of each handle, and its current build. */
#include "layer.h"

#include <stdlib.h>

static struct table programs;

static struct program *known_program(cl_program handle) {
    return table_get(&programs, HANDLE(handle));
}

/* Add a new program. `bytes` are its source, binary or IL, or NULL if it has none. */
static void remember(cl_program handle, uint32_t references, const char *kind, const void *bytes, size_t length) {
    struct program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return;
    *program = (struct program){.references = references, .kind = kind};
    if (bytes != NULL)
        sha256_hex(bytes, length, program->sha256);
    lock();
    bool is_source = bytes != NULL && strcmp(kind, "source") == 0;
    program->has_source = log_open() && is_source && log_source(bytes, length, program->sha256);
    free(table_put(&programs, HANDLE(handle), program));
    unlock();
}

/* Add a program that was not created through the layer, as far as its driver describes it. */
static void adopt(cl_program handle) {
    cl_uint references = 1;
    size_t length = 0;
    if (NEXT(clGetProgramInfo)(handle, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL) != CL_SUCCESS)
        return;
    NEXT(clGetProgramInfo)(handle, CL_PROGRAM_SOURCE, 0, NULL, &length);
    char *source = length > 1 ? malloc(length) : NULL;
    if (source == NULL ||
        NEXT(clGetProgramInfo)(handle, CL_PROGRAM_SOURCE, length, source, NULL) != CL_SUCCESS)
        remember(handle, references, "binary", NULL, 0);
    else
        remember(handle, references, "source", source, length - 1);
    free(source);
}

static char *options_of(cl_program handle) {
    cl_device_id devices[64] = {NULL};
    size_t length = 0;
    NEXT(clGetProgramInfo)(handle, CL_PROGRAM_DEVICES, sizeof devices, devices, NULL);
    NEXT(clGetProgramBuildInfo)(handle, devices[0], CL_PROGRAM_BUILD_OPTIONS, 0, NULL, &length);
    char *options = calloc(length + 1, 1);
    if (options != NULL)
        NEXT(clGetProgramBuildInfo)(handle, devices[0], CL_PROGRAM_BUILD_OPTIONS, length, options, NULL);
    return options;
}

/* Return the build that kernels created from this program now belong to, or NULL if it cannot be found out. */
struct build *program_build(cl_program handle) {
    lock();
    bool known = known_program(handle) != NULL;
    unlock();
    if (!known)
        adopt(handle);
    lock();
    struct program *program = known_program(handle);
    struct build *build = program == NULL ? NULL : program->build;
    unlock();
    if (program == NULL || build != NULL)
        return build;
    char *options = options_of(handle); /* built-in kernels need no build */
    lock();
    program = known_program(handle);
    if (program != NULL && program->build == NULL)
        program->build = build_of(program->kind, program->sha256, program->has_source, options, NULL, NULL, 0);
    build = program == NULL ? NULL : program->build;
    unlock();
    free(options);
    return build;
}

static void take_build(cl_program handle, const char *options, struct text *headers) {
    lock();
    struct program *program = known_program(handle);
    if (program != NULL)
        program->build = build_of(program->kind, program->sha256, program->has_source, options, headers, NULL, 0);
    if (program != NULL && program->build != NULL && log_open())
        build_id(program->build);
    unlock();
}

cl_program layer_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                           const size_t *lengths, cl_int *error) {
    cl_program handle = NEXT(clCreateProgramWithSource)(context, count, strings, lengths, error);
    if (handle == NULL)
        return handle;
    struct text source = {0};
    text_bytes(&source, "", 0);
    for (cl_uint i = 0; i < count; i++)
        text_bytes(&source, strings[i], lengths == NULL || lengths[i] == 0 ? strlen(strings[i]) : lengths[i]);
    remember(handle, 1, "source", source.failed ? NULL : source.data, source.length);
    text_free(&source);
    return handle;
}

cl_program layer_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                           const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                           cl_int *error) {
    cl_program handle = NEXT(clCreateProgramWithBinary)(context, count, devices, lengths, binaries, status, error);
    if (handle != NULL)
        remember(handle, 1, "binary", binaries[0], lengths[0]);
    return handle;
}

cl_program layer_clCreateProgramWithIL(cl_context context, const void *il, size_t length, cl_int *error) {
    cl_program handle = NEXT(clCreateProgramWithIL)(context, il, length, error);
    if (handle != NULL)
        remember(handle, 1, "il", il, length);
    return handle;
}

cl_program layer_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                   const char *names, cl_int *error) {
    cl_program handle = NEXT(clCreateProgramWithBuiltInKernels)(context, count, devices, names, error);
    if (handle != NULL)
        remember(handle, 1, "built-in", NULL, 0);
    return handle;
}

/* A build that is still running in the background is added, too: if it fails, it gets no kernels and no launches. */
cl_int layer_clBuildProgram(cl_program handle, cl_uint count, const cl_device_id *devices, const char *options,
                            program_notify notify, void *data) {
    struct call call = command_begin(BUILD, NULL, &(struct facts){NO_NUMBER, BLOCKING, 0}, 0, NULL);
    cl_int result = NEXT(clBuildProgram)(handle, count, devices, options, notify, data);
    command_end(&call, result);
    if (result == CL_SUCCESS)
        take_build(handle, options, NULL);
    return result;
}

cl_int layer_clCompileProgram(cl_program handle, cl_uint count, const cl_device_id *devices, const char *options,
                              cl_uint header_count, const cl_program *headers, const char **names,
                              program_notify notify, void *data) {
    cl_int result = NEXT(clCompileProgram)(handle, count, devices, options, header_count, headers, names, notify, data);
    if (result != CL_SUCCESS)
        return result;
    struct text described = {0};
    lock();
    for (cl_uint i = 0; i < header_count; i++) {
        struct program *header = known_program(headers[i]);
        text_format(&described, "%s{\"name\": ", i == 0 ? "" : ", ");
        text_quoted(&described, names[i]);
        if (header == NULL || !header->has_source)
            text_format(&described, ", \"source\": null}");
        else
            text_format(&described, ", \"source\": \"program-%s.cl\"}", header->sha256);
    }
    unlock();
    take_build(handle, options, &described);
    text_free(&described);
    return result;
}

cl_program layer_clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices, const char *options,
                               cl_uint input_count, const cl_program *inputs, program_notify notify, void *data,
                               cl_int *error) {
    /* Read before the call: a callback may release the inputs. */
    struct build **linked = calloc(input_count + 1, sizeof *linked);
    size_t linked_count = 0;
    for (cl_uint i = 0; linked != NULL && inputs != NULL && i < input_count; i++)
        if ((linked[linked_count] = program_build(inputs[i])) != NULL)
            linked_count++;
    cl_program handle =
        NEXT(clLinkProgram)(context, count, devices, options, input_count, inputs, notify, data, error);
    if (handle != NULL) {
        remember(handle, 1, "binary", NULL, 0);
        lock();
        struct program *program = known_program(handle);
        if (program != NULL)
            program->build = build_of("binary", "", false, options, NULL, linked, linked_count);
        if (program != NULL && program->build != NULL && log_open())
            build_id(program->build);
        unlock();
    }
    free(linked);
    return handle;
}

cl_int layer_clRetainProgram(cl_program handle) {
    cl_int result = NEXT(clRetainProgram)(handle);
    lock();
    struct program *program = result == CL_SUCCESS ? known_program(handle) : NULL;
    if (program != NULL)
        program->references++;
    unlock();
    return result;
}

/* Forget it before the release: afterwards another thread may get the same handle for a new program. */
cl_int layer_clReleaseProgram(cl_program handle) {
    lock();
    struct program *program = known_program(handle);
    if (program != NULL && --program->references == 0)
        free(table_remove(&programs, HANDLE(handle)));
    unlock();
    return NEXT(clReleaseProgram)(handle);
}
