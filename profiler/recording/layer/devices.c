/* Devices and queues: where a launch runs, and whether its time can be read. */
#include "layer.h"

#include <stdlib.h>

static struct table devices, queues;
static int64_t device_ids, queue_ids;

static void add_device_text(struct text *text, const char *key, cl_device_id handle, cl_uint what) {
    char value[1024] = "";
    NEXT(clGetDeviceInfo)(handle, what, sizeof value - 1, value, NULL);
    text_format(text, ", \"%s\": ", key);
    text_quoted(text, value);
}

static char *describe(cl_device_id handle) {
    struct text text = {0};
    cl_platform_id platform = NULL;
    char name[1024] = "";
    NEXT(clGetDeviceInfo)(handle, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    NEXT(clGetPlatformInfo)(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    add_device_text(&text, "name", handle, CL_DEVICE_NAME);
    add_device_text(&text, "driver_version", handle, CL_DRIVER_VERSION);
    text_format(&text, ", \"platform\": ");
    text_quoted(&text, name);
    return text.data;
}

static struct device *remember_device(cl_device_id handle) {
    lock();
    struct device *device = table_get(&devices, HANDLE(handle));
    unlock();
    if (device != NULL)
        return device;
    struct device *created = malloc(sizeof *created);
    if (created == NULL)
        return NULL;
    *created = (struct device){-1, describe(handle)};
    lock();
    device = table_get(&devices, HANDLE(handle));
    if (device == NULL)
        table_put(&devices, HANDLE(handle), created);
    unlock();
    if (device == NULL)
        return created;
    free(created->described);
    free(created);
    return device;
}

/* Return a device's id in the log; write the device first if it is not there. */
int64_t device_id(struct device *device) {
    if (device->id < 0) {
        struct text line = {0};
        device->id = device_ids++;
        text_format(&line, "{\"record\": \"device\", \"id\": %lld", (long long)device->id);
        text_bytes(&line, device->described, strlen(device->described));
        text_format(&line, "}");
        log_line(&line);
        text_free(&line);
    }
    return device->id;
}

/* Return a queue's number in the log; write the queue first if it is not there. */
uint32_t queue_number(struct queue *queue) {
    if (queue->id < 0) {
        struct text line = {0};
        int64_t device = device_id(queue->device);
        queue->id = queue_ids++;
        text_format(&line, "{\"record\": \"queue\", \"id\": %lld, \"device\": %lld, \"out_of_order\": %s}",
                    (long long)queue->id, (long long)device, queue->out_of_order ? "true" : "false");
        log_line(&line);
        text_free(&line);
    }
    return (uint32_t)queue->id;
}

void devices_forget_ids(void) {
    device_ids = queue_ids = 0;
    for (size_t i = 0; i < queues.capacity; i++)
        if (queues.entries[i].value != NULL)
            ((struct queue *)queues.entries[i].value)->id = -1;
    for (size_t i = 0; i < devices.capacity; i++)
        if (devices.entries[i].value != NULL)
            ((struct device *)devices.entries[i].value)->id = -1;
}

static void remember_queue(cl_command_queue handle, bool created, bool forced) {
    cl_device_id device = NULL;
    cl_bitfield properties = 0;
    cl_uint references = 1;
    if (NEXT(clGetCommandQueueInfo)(handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS)
        return;
    NEXT(clGetCommandQueueInfo)(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (!created)
        NEXT(clGetCommandQueueInfo)(handle, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL);
    struct queue *queue = malloc(sizeof *queue);
    struct device *on = remember_device(device);
    if (queue == NULL || on == NULL) {
        free(queue);
        return;
    }
    *queue = (struct queue){references, on, -1, properties & CL_QUEUE_PROFILING_ENABLE, forced,
                            properties & CL_QUEUE_OUT_OF_ORDER};
    lock();
    free(table_put(&queues, HANDLE(handle), queue));
    log_open();
    unlock();
    end_with_process();
}

/* Return a queue's entry, or NULL if there is none. The caller holds the lock. */
struct queue *known_queue(cl_command_queue handle) {
    return table_get(&queues, HANDLE(handle));
}

/* Add a queue that was not created through the layer. The caller does not hold the lock. */
void adopt_queue(cl_command_queue handle) {
    if (handle != NULL)
        remember_queue(handle, false, false);
}

cl_command_queue layer_clCreateCommandQueue(cl_context context, cl_device_id device, cl_bitfield properties,
                                            cl_int *error) {
    cl_command_queue queue = NULL;
    bool force = settings.profile && !(properties & CL_QUEUE_PROFILING_ENABLE);
    if (force)
        queue = NEXT(clCreateCommandQueue)(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
    force = queue != NULL;
    if (queue == NULL)
        queue = NEXT(clCreateCommandQueue)(context, device, properties, error);
    if (queue != NULL)
        remember_queue(queue, true, force);
    return queue;
}

enum { MOST_PROPERTIES = 32 };

/* Copy a zero-terminated list of properties and turn profiling on. Return false if it is on or must stay off. */
static bool with_profiling(const cl_bitfield *given, cl_bitfield *changed) {
    bool found = false;
    size_t length = 0;
    for (; given != NULL && given[length] != 0 && length + 4 < MOST_PROPERTIES; length += 2) {
        changed[length] = given[length];
        changed[length + 1] = given[length + 1];
        if (given[length] == CL_QUEUE_PROPERTIES) {
            found = true;
            if (given[length + 1] & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
                return false;
            changed[length + 1] |= CL_QUEUE_PROFILING_ENABLE;
        }
    }
    if (given != NULL && given[length] != 0)
        return false;
    if (!found) {
        changed[length++] = CL_QUEUE_PROPERTIES;
        changed[length++] = CL_QUEUE_PROFILING_ENABLE;
    }
    changed[length] = 0;
    return true;
}

cl_command_queue layer_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                          const cl_bitfield *properties, cl_int *error) {
    cl_bitfield changed[MOST_PROPERTIES];
    cl_command_queue queue = NULL;
    bool force = settings.profile && with_profiling(properties, changed);
    if (force)
        queue = NEXT(clCreateCommandQueueWithProperties)(context, device, changed, error);
    force = queue != NULL;
    if (queue == NULL)
        queue = NEXT(clCreateCommandQueueWithProperties)(context, device, properties, error);
    if (queue != NULL)
        remember_queue(queue, true, force);
    return queue;
}

cl_int layer_clRetainCommandQueue(cl_command_queue handle) {
    cl_int result = NEXT(clRetainCommandQueue)(handle);
    lock();
    struct queue *queue = result == CL_SUCCESS ? known_queue(handle) : NULL;
    if (queue != NULL)
        queue->references++;
    unlock();
    return result;
}

cl_int layer_clReleaseCommandQueue(cl_command_queue handle) {
    lock();
    struct queue *queue = known_queue(handle);
    bool last = queue != NULL && --queue->references == 0;
    if (last)
        free(table_remove(&queues, HANDLE(handle)));
    unlock();
    if (last)
        events_collect_all(); /* the layer's events would keep the queue alive */
    return NEXT(clReleaseCommandQueue)(handle);
}

/* Return whether the layer turned profiling on; the program is then told that it is off. */
static bool is_forced(cl_command_queue handle) {
    lock();
    struct queue *queue = known_queue(handle);
    bool forced = queue != NULL && queue->forced;
    unlock();
    return forced;
}

cl_int layer_clSetCommandQueueProperty(cl_command_queue handle, cl_bitfield properties, cl_uint enable,
                                       cl_bitfield *old) {
    cl_int result = NEXT(clSetCommandQueueProperty)(handle, properties, enable, old);
    if (result != CL_SUCCESS || !(properties & CL_QUEUE_PROFILING_ENABLE))
        return result;
    lock();
    struct queue *queue = known_queue(handle);
    if (queue != NULL) {
        queue->profiling = enable != 0;
        queue->forced = false;
    }
    unlock();
    return result;
}

cl_int layer_clGetCommandQueueInfo(cl_command_queue handle, cl_uint what, size_t size, void *value, size_t *actual) {
    size_t written = 0;
    cl_int result = NEXT(clGetCommandQueueInfo)(handle, what, size, value, &written);
    if (result == CL_SUCCESS && actual != NULL)
        *actual = written;
    if (result != CL_SUCCESS || !settings.profile || value == NULL || !is_forced(handle))
        return result;
    cl_bitfield *words = value;
    if (what == CL_QUEUE_PROPERTIES)
        words[0] &= ~(cl_bitfield)CL_QUEUE_PROFILING_ENABLE;
    for (size_t i = 0; what == CL_QUEUE_PROPERTIES_ARRAY && (i + 2) * sizeof *words <= written; i += 2)
        if (words[i] == CL_QUEUE_PROPERTIES)
            words[i + 1] &= ~(cl_bitfield)CL_QUEUE_PROFILING_ENABLE;
    return result;
}

cl_int layer_clGetEventProfilingInfo(cl_event event, cl_uint what, size_t size, void *value, size_t *actual) {
    cl_command_queue queue = NULL;
    if (settings.profile && NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL) == 0 &&
        is_forced(queue))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return NEXT(clGetEventProfilingInfo)(event, what, size, value, actual);
}
