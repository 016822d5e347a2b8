/* Times of commands: events of profiling queues are kept until they are complete, at most a few thousand. */
#include "layer.h"

enum { MOST_PENDING = 4096, MANY_PENDING = 64, PATIENCE = 2 };

struct pending {
    cl_event event;
    struct slot *slot;       /* of a launch, or NULL */
    struct command *command; /* in the sequence, or NULL */
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

struct moments {
    cl_ulong queued, start, end;
};

static bool read_moment(cl_event event, cl_uint what, cl_ulong *moment) {
    return NEXT(clGetEventProfilingInfo)(event, what, sizeof *moment, moment, NULL) == CL_SUCCESS;
}

static bool read_moments(cl_event event, struct moments *moments) {
    return read_moment(event, CL_PROFILING_COMMAND_QUEUED, &moments->queued) &&
           read_moment(event, CL_PROFILING_COMMAND_START, &moments->start) &&
           read_moment(event, CL_PROFILING_COMMAND_END, &moments->end) && moments->end >= moments->start;
}

static void keep_moments(const struct pending *pending, const struct moments *moments) {
    if (pending->slot != NULL)
        slot_add_time(pending->slot, (double)(moments->end - moments->start) * 1e-3);
    if (pending->command != NULL) {
        pending->command->queued_ns = moments->queued;
        pending->command->start_ns = moments->start;
        pending->command->finish_ns = moments->end;
    }
}

/* Read the times of completed events; stop after `patience` events that are still running. */
static void collect(unsigned patience) {
    lock();
    unsigned left = used;
    struct pending pending;
    struct moments moments;
    while (left-- > 0 && patience > 0 && pop(&pending)) {
        unlock();
        bool over = is_over(pending.event);
        bool timed = over && read_moments(pending.event, &moments);
        if (over)
            NEXT(clReleaseEvent)(pending.event);
        lock();
        if (timed)
            keep_moments(&pending, &moments);
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
void events_add(cl_event event, struct slot *slot, struct command *command, bool ours) {
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) >= MANY_PENDING)
        collect(PATIENCE);
    if (!ours && NEXT(clRetainEvent)(event) != CL_SUCCESS)
        return;
    lock();
    bool kept = push((struct pending){event, slot, command});
    unlock();
    if (!kept)
        NEXT(clReleaseEvent)(event);
}

/* After a fork: the events belong to the parent. */
void events_forget(void) {
    used = 0;
}

cl_int layer_clReleaseContext(cl_context context) {
    events_collect_all(); /* the layer's events would keep the context alive */
    return NEXT(clReleaseContext)(context);
}
