/* Entry points: the ICD loader loads the library that OPENCL_LAYERS names, and gets the functions to call from it. */
#include "layer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

enum { MOST_FUNCTIONS = 512, FUNCTIONS_OF_OPENCL_1_2 = 102 };

any_function next_functions[MOST_FUNCTIONS];
static any_function our_functions[MOST_FUNCTIONS];
struct settings settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void lock(void) {
    pthread_mutex_lock(&mutex);
}

void unlock(void) {
    pthread_mutex_unlock(&mutex);
}

/* In the child of a fork, start a new log, in which nothing has an id yet. */
static void start_new_log(void) {
    events_forget();
    launches_forget();
    counts_forget();
    commands_forget();
    builds_forget_ids();
    devices_forget_ids();
    log_forget();
    unlock();
}

/* Wait up to a second for the lock: a program may exit from a signal handler while its own thread holds it. */
static bool can_lock(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&mutex, &until) != 0)
        return false;
    unlock();
    return true;
}

/* Read the times that are still missing: at exit or when the loader ends, whichever comes first, while drivers work. */
static void end(void) {
    if (can_lock())
        events_collect_all();
}

/* Register `end` once a queue exists. Its driver has registered its own exit handlers by then, and ours runs first. */
void end_with_process(void) {
    static bool registered;
    lock();
    bool first = !registered;
    registered = true;
    unlock();
    if (first)
        atexit(end);
}

static bool copy_setting(const char *name, char *into, size_t size) {
    const char *value = getenv(name);
    if (value == NULL || value[0] == '\0' || strlen(value) >= size)
        return false;
    memcpy(into, value, strlen(value) + 1);
    return true;
}

static bool is_on(const char *name) {
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

EXPORTED cl_int clGetLayerInfo(cl_uint what, size_t size, void *value, size_t *actual) {
    static const char name[] = "Kernelcast's recorder of launches";
    static const cl_uint version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
        return CL_INVALID_VALUE;
    size_t length = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (value != NULL && size < length)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, what == CL_LAYER_NAME ? (const void *)name : (const void *)&version, length);
    if (actual != NULL)
        *actual = length;
    return CL_SUCCESS;
}

/* Replace a function of the loader's table; an entry that the loader lacks stays empty. */
static void put(cl_uint count, unsigned place, any_function function) {
    if (place < count && next_functions[place] != NULL)
        our_functions[place] = function;
}

EXPORTED cl_int clInitLayer(cl_uint count, const any_function *target, cl_uint *our_count, const any_function **ours) {
    if (target == NULL || our_count == NULL || ours == NULL || count < FUNCTIONS_OF_OPENCL_1_2)
        return CL_INVALID_VALUE;
    if (target[PLACE_clEnqueueNDRangeKernel] == (any_function)layer_clEnqueueNDRangeKernel) {
        *our_count = count; /* OPENCL_LAYERS names this library twice: a second pass would call itself forever */
        *ours = target;
        return CL_SUCCESS;
    }
    count = count < MOST_FUNCTIONS ? count : MOST_FUNCTIONS;
    memcpy(next_functions, target, count * sizeof *target);
    memcpy(our_functions, target, count * sizeof *target);
    settings.profile = is_on("KERNELCAST_RECORD_PROFILE");
    settings.contents = is_on("KERNELCAST_RECORD_CONTENTS") &&
                        copy_setting("KERNELCAST_RECORD_SOCKET", settings.socket, sizeof settings.socket);
    if (copy_setting("KERNELCAST_RECORD_DIR", settings.folder, sizeof settings.folder)) {
#define PUT(place, result, name, parameters) put(count, place, (any_function)layer_##name);
        HOOKED_FUNCTIONS(PUT)
        static bool registered; /* a process with two loaders comes here twice, and the lock can be taken only once */
        if (!registered)
            registered = pthread_atfork(lock, unlock, start_new_log) == 0;
    }
    *our_count = count;
    *ours = our_functions;
    return CL_SUCCESS;
}

/* Newer versions of Khronos' loader call this instead of clInitLayer; they deinitialize layers before drivers. */
EXPORTED cl_int clInitLayerWithProperties(cl_uint count, const any_function *target, cl_uint *our_count,
                                          const any_function **ours, const void *properties) {
    (void)properties;
    return clInitLayer(count, target, our_count, ours);
}

EXPORTED cl_int clDeinitLayer(void) {
    end();
    return CL_SUCCESS;
}
