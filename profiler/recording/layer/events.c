/* Times of launches: events of profiling queues are kept until they are complete, at most a few thousand. */
#include "layer.h"

enum { MOST_PENDING = 4096, MANY_PENDING = 64, PATIENCE = 2 };

struct pending {
    cl_event event;
    struct slot *slot;
};

static struct pending ring[MOST_PENDING];
static unsigned first, used;

static bool push(struct pending pending) {
    if (used == MOST_PENDING)
        return false;
    ring[(first + used++) % MOST_PENDING] = pending;
    return true;
}

static bool pop(struct pending *pending) {
    if (used == 0)
        return false;
    *pending = ring[first];
    first = (first + 1) % MOST_PENDING;
    used--;
    return true;
}

static bool is_over(cl_event event) {
    cl_int status = CL_COMPLETE;
    NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status <= CL_COMPLETE; /* a negative status: it failed */
}

static bool read_time(cl_event event, double *time_us) {
    cl_ulong start, end;
    if (NEXT(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        NEXT(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return false;
    *time_us = (double)(end - start) * 1e-3;
    return end >= start;
}

/* Read the times of completed events; stop after `patience` events that are still running. */
static void collect(unsigned patience) {
    lock();
    unsigned left = used;
    struct pending pending;
    while (left-- > 0 && patience > 0 && pop(&pending)) {
        unlock();
        double time_us;
        bool over = is_over(pending.event);
        bool timed = over && read_time(pending.event, &time_us);
        if (over)
            NEXT(clReleaseEvent)(pending.event);
        lock();
        if (timed)
            slot_add_time(pending.slot, time_us);
        if (!over) {
            patience--;
            if (!push(pending)) {
                unlock();
                NEXT(clReleaseEvent)(pending.event);
                lock();
            }
        }
    }
    unlock();
}

void events_collect(void) {
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) > 0)
        collect(PATIENCE);
}

void events_collect_all(void) {
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) > 0)
        collect(MOST_PENDING);
}

/* Keep an event until its time is read. `ours`: the layer owns it; otherwise it is retained for as long. */
void events_add(cl_event event, struct slot *slot, bool ours) {
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) >= MANY_PENDING)
        collect(PATIENCE);
    if (!ours && NEXT(clRetainEvent)(event) != CL_SUCCESS)
        return;
    lock();
    bool kept = push((struct pending){event, slot});
    unlock();
    if (!kept)
        NEXT(clReleaseEvent)(event);
}

/* After a fork: the events belong to the parent. */
void events_forget(void) {
    used = 0;
}

cl_int layer_clFinish(cl_command_queue queue) {
    cl_int result = NEXT(clFinish)(queue);
    events_collect_all();
    return result;
}

cl_int layer_clWaitForEvents(cl_uint count, const cl_event *events) {
    cl_int result = NEXT(clWaitForEvents)(count, events);
    events_collect();
    return result;
}

cl_int layer_clReleaseContext(cl_context context) {
    events_collect_all(); /* the layer's events would keep the context alive */
    return NEXT(clReleaseContext)(context);
}

cl_int layer_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocking, size_t offset, size_t bytes,
                                 void *into, cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    cl_int result = NEXT(clEnqueueReadBuffer)(queue, buffer, blocking, offset, bytes, into, waiting, wait_list, event);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_uint blocking, const size_t *origin,
                                const size_t *region, size_t row_pitch, size_t slice_pitch, void *into, cl_uint waiting,
                                const cl_event *wait_list, cl_event *event) {
    cl_int result = NEXT(clEnqueueReadImage)(queue, image, blocking, origin, region, row_pitch, slice_pitch, into,
                                             waiting, wait_list, event);
    if (blocking)
        events_collect();
    return result;
}

void *layer_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocking, cl_bitfield flags,
                               size_t offset, size_t bytes, cl_uint waiting, const cl_event *wait_list, cl_event *event,
                               cl_int *error) {
    void *mapped = NEXT(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, bytes, waiting, wait_list, event,
                                            error);
    if (blocking)
        events_collect();
    return mapped;
}

void *layer_clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_uint blocking, cl_bitfield flags,
                              const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch,
                              cl_uint waiting, const cl_event *wait_list, cl_event *event, cl_int *error) {
    void *mapped = NEXT(clEnqueueMapImage)(queue, image, blocking, flags, origin, region, row_pitch, slice_pitch,
                                           waiting, wait_list, event, error);
    if (blocking)
        events_collect();
    return mapped;
}
