/* A program that uses OpenCL as a user's would; what it is to do is its first word. The tests record it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "opencl.h"

#define PROTOTYPE(place, result, name, parameters) result name parameters;
CALLED_FUNCTIONS(PROTOTYPE)
HOOKED_FUNCTIONS(PROTOTYPE)
cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
cl_context clCreateContext(const intptr_t *, cl_uint, const cl_device_id *, void *, void *, cl_int *);

enum { READ_WRITE = 1, COPY_HOST = 32, PROFILING = 2, N = 4096 };

static const char *const SOURCE =
    "__kernel void scale(__global float *x, float by, int n) { int i = get_global_id(0); if (i < n) x[i] *= by; }\n"
    "__kernel void sum(__global const float *x, __global float *y, __local float *part) {\n"
    "  int l = get_local_id(0); part[l] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (l == 0) { float s = 0; for (int i = 0; i < (int)get_local_size(0); i++) s += part[i];\n"
    "  y[get_group_id(0)] = s; } }\n"
    "__kernel void pick(read_only image2d_t from, sampler_t how, __global float4 *x, __global float *maybe,\n"
    "                   ulong k) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  x[at.y * (int)get_global_size(0) + at.x] = read_imagef(from, how, at) + (maybe ? 1.0f : 0.0f) + k; }\n"
    "__kernel void wide(__global float *x, float16 by) { x[get_global_id(0)] *= by.s7; }\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, error);
        exit(3);
    }
}

static void open_device(cl_bitfield properties) {
    cl_platform_id platform;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    queue = clCreateCommandQueue(context, device, properties, &error);
    check(error, "queue");
    program = clCreateProgramWithSource(context, 1, (const char **)&SOURCE, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "-DUNUSED=\"1\"", NULL, NULL), "build");
}

static cl_kernel kernel_of(const char *name) {
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, name);
    return kernel;
}

static cl_mem buffer_of(size_t bytes) {
    cl_int error;
    void *zeros = calloc(1, bytes);
    cl_mem buffer = clCreateBuffer(context, READ_WRITE | COPY_HOST, bytes, zeros, &error);
    check(error, "buffer");
    free(zeros);
    return buffer;
}

static void launch(cl_kernel kernel, size_t global, size_t local, cl_event *event) {
    const size_t *size = local == 0 ? NULL : &local;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, size, 0, NULL, event), "launch");
}

static void set_scale(cl_kernel kernel, cl_mem buffer, float by, int n) {
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
    check(clSetKernelArg(kernel, 1, sizeof by, &by), "argument");
    check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument");
}

/* Three distinct launches: one twice, one in a sub-buffer, one with local memory. */
static void some(void) {
    cl_int error;
    cl_kernel scale = kernel_of("scale"), sum = kernel_of("sum");
    cl_mem x = buffer_of(N * 4), y = buffer_of(256);
    size_t region[2] = {1024, 2048};
    cl_mem part = clCreateSubBuffer(x, READ_WRITE, 0x1220, region, &error);
    check(error, "sub-buffer");
    set_scale(scale, x, 2.0f, N);
    launch(scale, N, 64, NULL);
    launch(scale, N, 64, NULL);
    set_scale(scale, part, 2.0f, N);
    launch(scale, 512, 0, NULL);
    check(clSetKernelArg(sum, 0, sizeof x, &x), "argument");
    check(clSetKernelArg(sum, 1, sizeof y, &y), "argument");
    check(clSetKernelArg(sum, 2, 256, NULL), "argument");
    launch(sum, N, 64, NULL);
    check(clFinish(queue), "finish");
    clReleaseMemObject(part);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseKernel(scale);
    clReleaseKernel(sum);
    puts("done");
}

static void images(void) {
    cl_int error;
    cl_kernel pick = kernel_of("pick");
    cl_uint format[2] = {0x10B5, 0x10DE};
    size_t global[2] = {16, 8}, local[2] = {8, 4}, offset[2] = {0, 0};
    cl_mem image = clCreateImage2D(context, READ_WRITE, format, 32, 8, 0, NULL, &error), out = buffer_of(16 * 8 * 16);
    check(error, "image");
    cl_sampler sampler = clCreateSampler(context, 0, 0x1131, 0x1140, &error);
    check(error, "sampler");
    cl_ulong k = 7;
    check(clSetKernelArg(pick, 0, sizeof image, &image), "argument");
    check(clSetKernelArg(pick, 1, sizeof sampler, &sampler), "argument");
    check(clSetKernelArg(pick, 2, sizeof out, &out), "argument");
    check(clSetKernelArg(pick, 3, sizeof(cl_mem), NULL), "argument");
    check(clSetKernelArg(pick, 4, sizeof k, &k), "argument");
    check(clEnqueueNDRangeKernel(queue, pick, 2, offset, global, local, 0, NULL, NULL), "launch");
    check(clFinish(queue), "finish");
}

static cl_program program_of(const char *source) {
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "program");
    return made;
}

/* A kernel that is compiled with a header and linked, cloned, and given shared virtual memory. */
static void linked(void) {
    cl_int error;
    const char *name = "twice.h";
    cl_program header = program_of("inline float twice(float x) { return 2.0f * x; }\n");
    cl_program part = program_of("#include \"twice.h\"\n__kernel void doubled(__global float *x, __global float *y) {\n"
                                 "int i = get_global_id(0); y[i] = twice(x[i]); }\n");
    check(clCompileProgram(part, 1, &device, "-DPART", 1, &header, &name, NULL, NULL), "compile");
    cl_program whole = clLinkProgram(context, 1, &device, NULL, 1, &part, NULL, NULL, &error);
    check(error, "link");
    clReleaseProgram(header);
    clReleaseProgram(part);
    cl_kernel doubled = clCreateKernel(whole, "doubled", &error);
    check(error, "kernel");
    clReleaseProgram(whole);
    char *shared = clSVMAlloc(context, READ_WRITE, 1024, 0);
    cl_mem y = buffer_of(1024);
    check(clSetKernelArgSVMPointer(doubled, 0, shared + 256), "argument");
    check(clSetKernelArg(doubled, 1, sizeof y, &y), "argument");
    launch(doubled, 64, 64, NULL);
    cl_kernel clone = clCloneKernel(doubled, &error);
    check(error, "clone");
    clReleaseKernel(doubled);
    launch(clone, 64, 64, NULL);
    check(clFinish(queue), "finish");
    clSVMFree(context, shared);
}

/* A program from the binary of another one. */
static void binary(void) {
    size_t bytes;
    cl_int error;
    check(clGetProgramInfo(program, 0x1165, sizeof bytes, &bytes, NULL), "size");
    unsigned char *code = malloc(bytes);
    check(clGetProgramInfo(program, 0x1166, sizeof code, &code, NULL), "binary");
    const unsigned char *codes[1] = {code};
    cl_program other = clCreateProgramWithBinary(context, 1, &device, &bytes, codes, NULL, &error);
    check(error, "program");
    check(clBuildProgram(other, 1, &device, NULL, NULL, NULL), "build");
    free(code);
    clReleaseProgram(program);
    program = other;
    some();
}

static void close_files(void) {
    for (int file = 3; file < 256; file++)
        close(file);
}

static void values(int count) {
    cl_kernel scale = kernel_of("scale");
    cl_mem x = buffer_of(N * 4);
    for (int i = 0; i < count; i++) {
        set_scale(scale, x, (float)i, 64);
        launch(scale, 64, 64, NULL);
    }
    check(clFinish(queue), "finish");
}

/* Print what the program's own events say, in nanoseconds. */
static void times(int count) {
    cl_kernel scale = kernel_of("scale");
    cl_mem x = buffer_of(N * 4);
    set_scale(scale, x, 1.0f, N);
    for (int i = 0; i < count; i++) {
        cl_event event;
        cl_ulong start, end;
        launch(scale, N, 64, &event);
        check(clWaitForEvents(1, &event), "wait");
        check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &start, NULL), "start");
        check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 8, &end, NULL), "end");
        clReleaseEvent(event);
        printf("%llu\n", (unsigned long long)(end - start));
    }
}

/* Launch the clone of a kernel that has an argument of 64 bytes. */
static void cloned(void) {
    cl_int error;
    cl_kernel wide = kernel_of("wide");
    cl_mem x = buffer_of(1024);
    float by[16] = {1.0f};
    check(clSetKernelArg(wide, 0, sizeof x, &x), "argument");
    check(clSetKernelArg(wide, 1, sizeof by, by), "argument");
    cl_kernel clone = clCloneKernel(wide, &error);
    check(error, "clone");
    launch(clone, 64, 64, NULL);
    check(clFinish(queue), "finish");
}

/* Close all files, open one under all their numbers, launch, and print how large that file is afterwards. */
static void reuse_files(int count) {
    struct stat found;
    close_files();
    int own = memfd_create("own", 0);
    for (int i = 0; i < 64; i++)
        dup(own);
    values(count);
    check(fstat(own, &found), "own file");
    printf("%lld\n", (long long)found.st_size);
}

static void *one_thread(void *count) {
    cl_kernel scale = kernel_of("scale");
    cl_mem x = buffer_of(N * 4);
    for (int i = 0; i < *(int *)count; i++) {
        set_scale(scale, x, (float)(i % 10), 64);
        launch(scale, 64, 64, NULL);
    }
    clReleaseMemObject(x);
    clReleaseKernel(scale);
    return NULL;
}

static void threads(int count) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, one_thread, &count);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    check(clFinish(queue), "finish");
}

/* What a program may do wrongly: each line is the error it gets. */
static void mistakes(void) {
    cl_kernel scale = kernel_of("scale");
    cl_mem x = buffer_of(64);
    size_t global = 64, odd = 48;
    cl_int error;
    printf("%d\n", clSetKernelArg(scale, 0, 3, &x));
    printf("%d\n", clSetKernelArg(scale, 9, sizeof x, &x));
    printf("%d\n", clSetKernelArg(NULL, 0, sizeof x, &x));
    printf("%d\n", clEnqueueNDRangeKernel(queue, scale, 1, NULL, &global, NULL, 0, NULL, NULL));
    set_scale(scale, x, 1.0f, 16);
    printf("%d\n", clEnqueueNDRangeKernel(queue, scale, 4, NULL, &global, NULL, 0, NULL, NULL));
    printf("%d\n", clEnqueueNDRangeKernel(queue, scale, 1, NULL, &odd, &global, 0, NULL, NULL));
    printf("%d\n", clEnqueueNDRangeKernel(NULL, scale, 1, NULL, &global, NULL, 0, NULL, NULL));
    clCreateKernel(program, "no such kernel", &error);
    printf("%d\n", error);
    clCreateBuffer(context, READ_WRITE, 0, NULL, &error);
    printf("%d\n", error);
    cl_event event;
    cl_ulong start;
    launch(scale, 64, 64, &event);
    check(clFinish(queue), "finish");
    printf("%d\n", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 8, &start, NULL));
    cl_bitfield properties;
    check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL), "queue");
    printf("%d\n", (int)properties);
}

static double clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Print the seconds that `count` launches over `items` work-items take: by the clock, and of processor time, of all
 * threads and of this one. */
static void seconds(int count, int items) {
    cl_kernel scale = kernel_of("scale");
    cl_mem x = buffer_of((size_t)items * 4);
    set_scale(scale, x, 1.0f, items);
    launch(scale, (size_t)items, 64, NULL);
    check(clFinish(queue), "finish");
    static const clockid_t clocks[3] = {CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    double begin_s[3];
    for (int i = 0; i < 3; i++)
        begin_s[i] = clock_s(clocks[i]);
    for (int i = 0; i < count; i++) {
        set_scale(scale, x, 1.0f + (float)(i % 16) * 1e-6f, items);
        launch(scale, (size_t)items, 64, NULL);
        if (i % 100 == 99)
            check(clFinish(queue), "finish");
    }
    check(clFinish(queue), "finish");
    for (int i = 0; i < 3; i++)
        printf("%.9f\n", clock_s(clocks[i]) - begin_s[i]);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "some";
    int number = count > 2 ? atoi(words[2]) : 1;
    if (strcmp(what, "fork-first") == 0 && fork() != 0) {
        int status;
        wait(&status);
        return WEXITSTATUS(status);
    }
    open_device(count > 3 && strcmp(words[3], "profiled") == 0 ? PROFILING : 0);
    if (strcmp(what, "values") == 0)
        values(number);
    else if (strcmp(what, "times") == 0)
        times(number);
    else if (strcmp(what, "threads") == 0)
        threads(number);
    else if (strcmp(what, "images") == 0)
        images();
    else if (strcmp(what, "linked") == 0)
        linked();
    else if (strcmp(what, "binary") == 0)
        binary();
    else if (strcmp(what, "cloned") == 0)
        cloned();
    else if (strcmp(what, "reuse-files") == 0)
        reuse_files(number);
    else if (strcmp(what, "mistakes") == 0)
        mistakes();
    else if (strcmp(what, "seconds") == 0)
        seconds(number, count > 4 ? atoi(words[4]) : N);
    else
        some();
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "close-files") == 0) {
        close_files();
        some();
    }
    if (strcmp(what, "fork") == 0) {
        int status = 0;
        if (fork() == 0) {
            /* PoCL's threads do not survive a fork, so nothing runs here; taking a program down needs none of them. */
            clReleaseProgram(clCreateProgramWithSource(context, 1, (const char **)&SOURCE, NULL, NULL));
            _exit(0);
        }
        wait(&status);
        some();
    }
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    return 0;
}
