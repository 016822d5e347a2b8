/* The sequence of commands, in a memory-mapped file of records beside the log; `profiler/recording/commands.py` reads
 * it. The first record is a header. As with the counts, recording needs no system call and survives a crash. */
#include "layer.h"

#include <stdio.h>
#include <time.h>

enum { COMMANDS_PER_STEP = 1024, MOST_STEPS = 64 };

struct header {
    char magic[8];
    uint64_t seen; /* commands, recorded or not */
    uint64_t end_ns; /* of the last one's call */
    uint64_t unused[9];
};
_Static_assert(sizeof(struct header) == sizeof(struct command), "the header is as large as a record");

static char path[PATH_MAX + 64];
static struct command *steps[MOST_STEPS];
static struct header *header;
static struct table events; /* number of the command of an event, plus 1 */
static uint32_t threads;
static _Thread_local uint32_t thread; /* number of this thread, plus 1 */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct command *record_of(uint64_t place) {
    size_t step = place / COMMANDS_PER_STEP;
    if (step >= MOST_STEPS || path[0] == '\0')
        return NULL;
    if (steps[step] == NULL) {
        steps[step] = map_part(path, step, COMMANDS_PER_STEP * sizeof(struct command));
        if (steps[step] == NULL)
            return NULL;
    }
    return &steps[step][place % COMMANDS_PER_STEP];
}

void commands_open(const char *commands_path) {
    snprintf(path, sizeof path, "%s", commands_path);
    header = (struct header *)record_of(0);
    if (header == NULL)
        log_problem(NO_COMMANDS, "the order of commands is not recorded: the recording's folder takes no more files");
    else
        memcpy(header->magic, "KCCMDS1", sizeof header->magic);
}

/* After a fork: leave the file to the parent. The steps stay mapped, because a pending event may point into one. */
void commands_forget(void) {
    memset(steps, 0, sizeof steps);
    header = NULL;
    path[0] = '\0';
    table_clear(&events);
}

/* Write down which commands are waited for; if there are more than a record holds, the latest ones. */
static void add_waits(struct command *command, cl_uint count, const cl_event *wait_list) {
    const cl_uint most = sizeof command->waited / sizeof *command->waited;
    command->waits = count;
    for (cl_uint i = 0; wait_list != NULL && i < count; i++) {
        uint32_t number = (uint32_t)(uintptr_t)table_get(&events, HANDLE(wait_list[i]));
        cl_uint lowest = 0;
        for (cl_uint j = 1; j < most; j++)
            lowest = command->waited[j] < command->waited[lowest] ? j : lowest;
        if (number > command->waited[lowest])
            command->waited[lowest] = number;
    }
}

/* Begin a command: `queue` may be NULL for calls that have none. The caller does not hold the lock. */
struct call command_begin(enum command_kind kind, cl_command_queue queue_handle, const struct facts *facts,
                          cl_uint waiting, const cl_event *wait_list) {
    struct call call = {.kind = kind};
    lock();
    struct queue *queue = queue_handle == NULL ? NULL : known_queue(queue_handle);
    if (queue == NULL && queue_handle != NULL) { /* created by an extension */
        unlock();
        adopt_queue(queue_handle);
        lock();
        queue = known_queue(queue_handle);
    }
    bool open = header != NULL || (log_open() && header != NULL);
    uint64_t number = open ? header->seen++ : 0;
    struct command *command = open ? record_of(number + 1) : NULL;
    if (command != NULL) {
        thread = thread == 0 ? ++threads : thread;
        *command = (struct command){.launch = facts->launch, .flags = facts->flags, .bytes = facts->bytes};
        command->queue = queue == NULL ? NO_NUMBER : queue_number(queue);
        command->thread = thread - 1;
        add_waits(command, waiting, wait_list);
        call.number = (uint32_t)number;
        call.command = command;
    }
    call.profiling = queue != NULL && queue->profiling;
    unlock();
    call.begin_ns = now_ns();
    return call;
}

/* Return where the driver shall put the command's event: the layer wants one if its time can be read. */
cl_event *command_event(struct call *call, cl_event *event) {
    call->asked = event == NULL && call->profiling && (call->command != NULL || call->slot != NULL) ? &call->own : event;
    return call->asked;
}

/* End a command that the driver has taken or refused. */
void command_end(struct call *call, cl_int result) {
    uint64_t end_ns = now_ns();
    bool has_event = result == CL_SUCCESS && call->asked != NULL && *call->asked != NULL;
    lock();
    if (header != NULL)
        header->end_ns = end_ns;
    if (call->command != NULL && header != NULL) {
        call->command->begin_ns = call->begin_ns;
        call->command->end_ns = end_ns;
        if (has_event)
            table_put(&events, HANDLE(*call->asked), (void *)(uintptr_t)(call->number + 1));
        /* Last, so that a record with a kind is complete. */
        __atomic_store_n(&call->command->kind, result == CL_SUCCESS ? call->kind : REFUSED, __ATOMIC_RELEASE);
    }
    unlock();
    if (has_event && call->profiling && (call->command != NULL || call->slot != NULL))
        events_add(*call->asked, call->slot, call->command, call->asked == &call->own);
}
