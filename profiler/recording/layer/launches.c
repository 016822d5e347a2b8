/* Launches: each distinct one has a line in the log and a slot in the counts file. */
#include "layer.h"

#include <stdlib.h>

/* Beyond this many distinct launches of a kernel, those that differ only in values count as the first of a shape. */
enum { MOST_DISTINCT_VALUES = 4096 };

struct launch {
    uint32_t id;
    struct slot *slot;
    bool varies; /* launches with other values were counted here, and the log says so */
};
static struct table launches, shapes; /* by hash with and without values; both hold the same launches */
static uint32_t launch_ids;
static bool full; /* no slot is left: new launches are no longer recorded */

struct grid {
    cl_uint dimensions;
    const size_t *offset, *global, *local;
};

/* What an enqueue needs after it has released the lock. */
struct plan {
    struct slot *slot; /* NULL: not recorded */
    uint32_t id;
    struct content *contents; /* to be sent before the launch */
    size_t content_count;
};

static uint64_t hash_grid(const struct kernel *kernel, const struct queue *queue, const struct grid *grid) {
    uint64_t hash = mix(mix(HANDLE(kernel->function), HANDLE(queue->device)), grid->dimensions);
    for (cl_uint i = 0; i < grid->dimensions; i++) {
        hash = mix(hash, grid->global[i]);
        hash = mix(hash, grid->local == NULL ? 0 : grid->local[i]);
        hash = mix(hash, grid->offset == NULL ? 0 : grid->offset[i]);
    }
    return hash;
}

static void write_launch(const struct launch *launch, const struct kernel *kernel, const struct queue *queue,
                         const struct grid *grid) {
    static const size_t none[3] = {0, 0, 0};
    int64_t program = build_id(kernel->function->build), device = device_id(queue->device);
    struct text line = {0};
    text_format(&line, "{\"record\": \"launch\", \"id\": %u, \"program\": %lld, \"kernel\": ", launch->id,
                (long long)program);
    text_quoted(&line, kernel->function->name);
    text_format(&line, ", \"device\": %lld, \"global\": ", (long long)device);
    text_sizes(&line, grid->global, grid->dimensions);
    text_format(&line, ", \"local\": ");
    if (grid->local == NULL)
        text_format(&line, "null");
    else
        text_sizes(&line, grid->local, grid->dimensions);
    text_format(&line, ", \"offset\": ");
    text_sizes(&line, grid->offset == NULL ? none : grid->offset, grid->dimensions);
    text_format(&line, ", \"args\": [");
    for (cl_uint i = 0; i < kernel->function->arguments; i++) {
        text_format(&line, i == 0 ? "" : ", ");
        text_argument(&line, &kernel->arguments[i]);
    }
    text_format(&line, "]}");
    log_line(&line);
    text_free(&line);
}

static void write_varies(struct launch *launch) {
    if (launch->varies)
        return;
    launch->varies = true;
    struct text line = {0};
    text_format(&line, "{\"record\": \"varies\", \"launch\": %u}", launch->id);
    log_line(&line);
    text_free(&line);
}

static void plan_contents(struct plan *plan, const struct kernel *kernel) {
    plan->contents = calloc(kernel->function->arguments + 1, sizeof *plan->contents);
    for (cl_uint i = 0; plan->contents != NULL && i < kernel->function->arguments; i++) {
        const struct argument *argument = &kernel->arguments[i];
        if (argument->kind == BUFFER && argument->memory.readable && argument->bytes > 0)
            plan->contents[plan->content_count++] = (struct content){argument->handle, argument->bytes, i};
    }
}

static struct launch *new_launch(uint64_t key, uint64_t shape, struct kernel *kernel, const struct queue *queue,
                                 const struct grid *grid) {
    struct slot *slot = full ? NULL : slot_of(launch_ids);
    struct launch *launch = slot == NULL ? NULL : malloc(sizeof *launch);
    if (launch == NULL) {
        full = true;
        log_problem(TOO_MANY_LAUNCHES,
                    "not all launches are recorded: there are more distinct ones than a recording takes,"
                    " or the disk is full");
        return NULL;
    }
    *launch = (struct launch){launch_ids++, slot, false};
    kernel->function->distinct++;
    write_launch(launch, kernel, queue, grid);
    table_put(&launches, key, launch);
    if (table_get(&shapes, shape) == NULL)
        table_put(&shapes, shape, launch);
    return launch;
}

/* Find the launch that an enqueue repeats, or add a new one. */
static struct plan plan_launch(cl_command_queue queue_handle, cl_kernel kernel_handle, const struct grid *grid) {
    struct plan plan = {0};
    struct kernel *kernel = lock_with_kernel(kernel_handle);
    struct queue *queue = kernel == NULL ? NULL : known_queue(queue_handle);
    if (kernel != NULL && queue == NULL) { /* created by an extension, or an invalid handle */
        unlock();
        adopt_queue(queue_handle);
        kernel = lock_with_kernel(kernel_handle);
        queue = known_queue(queue_handle);
    }
    if (kernel != NULL && queue != NULL) {
        uint64_t hash = hash_grid(kernel, queue, grid);
        uint64_t key = mix(hash, kernel->state), shape = mix(~hash, kernel->shape);
        struct launch *launch = table_get(&launches, key);
        if (launch == NULL && kernel->function->distinct >= MOST_DISTINCT_VALUES &&
            (launch = table_get(&shapes, shape)) != NULL)
            write_varies(launch);
        bool known = launch != NULL;
        if (!known && log_open()) /* launches already in the log are counted even if it cannot grow */
            launch = new_launch(key, shape, kernel, queue, grid);
        if (!known && launch != NULL && settings.contents)
            plan_contents(&plan, kernel);
        if (launch != NULL) {
            plan.slot = launch->slot;
            plan.id = launch->id;
        }
    }
    unlock();
    return plan;
}

static void send_contents(struct plan *plan, cl_command_queue queue, cl_uint waiting, const cl_event *wait_list) {
    if (plan->content_count > 0)
        contents_send(queue, plan->id, plan->contents, plan->content_count, waiting, wait_list);
    free(plan->contents);
}

static struct call begin_launch(const struct plan *plan, cl_command_queue queue, cl_uint waiting,
                                const cl_event *wait_list) {
    struct facts facts = {plan->slot == NULL ? NO_NUMBER : plan->id, 0, 0};
    struct call call = command_begin(LAUNCH, queue, &facts, waiting, wait_list);
    call.slot = plan->slot;
    return call;
}

static cl_int end_launch(struct call *call, cl_int result) {
    if (result == CL_SUCCESS && call->slot != NULL)
        __atomic_fetch_add(&call->slot->count, 1, __ATOMIC_RELAXED);
    command_end(call, result);
    return result;
}

cl_int layer_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                    const size_t *global, const size_t *local, cl_uint waiting,
                                    const cl_event *wait_list, cl_event *event) {
    struct plan plan = {0};
    if (dimensions >= 1 && dimensions <= 3 && global != NULL) {
        plan = plan_launch(queue, kernel, &(struct grid){dimensions, offset, global, local});
    }
    send_contents(&plan, queue, waiting, wait_list);
    struct call call = begin_launch(&plan, queue, waiting, wait_list);
    cl_int result = NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, waiting, wait_list,
                                                 command_event(&call, event));
    return end_launch(&call, result);
}

cl_int layer_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint waiting, const cl_event *wait_list,
                           cl_event *event) {
    static const size_t one[1] = {1};
    struct plan plan = plan_launch(queue, kernel, &(struct grid){1, NULL, one, one});
    send_contents(&plan, queue, waiting, wait_list);
    struct call call = begin_launch(&plan, queue, waiting, wait_list);
    return end_launch(&call, NEXT(clEnqueueTask)(queue, kernel, waiting, wait_list, command_event(&call, event)));
}

/* After a fork: this process counts its own launches from zero. */
void launches_forget(void) {
    launch_ids = 0;
    full = false;
    table_clear(&shapes);
    for (size_t i = 0; i < launches.capacity; i++)
        free(launches.entries[i].value);
    table_clear(&launches);
}
