/* Declarations shared by the layer's files. The lock guards all tables and the log; no driver is called under it. */
#ifndef KERNELCAST_LAYER_H
#define KERNELCAST_LAYER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "opencl.h"

#define HANDLE(object) ((uint64_t)(uintptr_t)(object))

/* entry.c: the settings that `kernelcast record` passes, and the lock */
struct settings {
    bool profile;             /* turn profiling on for every queue */
    bool contents;            /* send what input buffers hold */
    char folder[PATH_MAX];    /* of the log */
    char socket[108];         /* where contents are sent; as long as the address of a Unix socket may be */
};
extern struct settings settings;
void lock(void);
void unlock(void);
void end_with_process(void);

/* table.c */
struct entry {
    uint64_t key;
    void *value;
};
struct table {
    struct entry *entries;
    size_t capacity, used;
};
uint64_t mix(uint64_t seed, uint64_t value);
uint64_t mix_bytes(uint64_t seed, const void *bytes, size_t length);
void *table_get(const struct table *table, uint64_t key);
void *table_put(struct table *table, uint64_t key, void *value);
void *table_remove(struct table *table, uint64_t key);
void table_clear(struct table *table);

/* text.c */
struct text {
    char *data;
    size_t length, capacity;
    bool failed; /* memory ran out: the text is incomplete */
};
void text_bytes(struct text *text, const void *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_quoted(struct text *text, const char *string);
void text_quoted_bytes(struct text *text, const char *bytes, size_t length);
void text_hex(struct text *text, const void *bytes, size_t length);
void text_sizes(struct text *text, const size_t *sizes, cl_uint count);
void text_free(struct text *text);

/* sha256.c */
void sha256_hex(const void *bytes, size_t length, char hex[65]);

/* log.c; the caller holds the lock */
enum problem { NO_COUNTS, NO_COMMANDS, NO_SOURCE, TOO_MANY_LAUNCHES, NO_CONTENTS, NO_MEMORY };
struct log_name {
    long pid;
    int number;
};
bool log_open(void); /* false: nothing can be recorded */
void log_line(struct text *line);
void log_problem(enum problem problem, const char *message);
void log_forget(void);
struct log_name log_name(void);
bool log_source(const void *bytes, size_t length, const char *sha256);
void *map_part(const char *path, size_t place, size_t bytes);

/* counts.c; the caller holds the lock */
struct slot {
    uint64_t count, timed;
    double sum_us, samples_us[29];
};
_Static_assert(sizeof(struct slot) == 256, "a slot of the counts file has 256 bytes");
struct slot *slot_of(uint32_t launch);
void slot_add_time(struct slot *slot, double time_us);
void counts_open(const char *counts_path);
void counts_forget(void);

/* devices.c: devices and queues */
struct device {
    int64_t id; /* in the log, -1 before it is written */
    char *described;
};
struct queue {
    uint32_t references;
    struct device *device;
    int64_t id; /* in the log, -1 before it is written */
    bool profiling;
    bool forced; /* the layer turned profiling on */
    bool out_of_order;
};
uint32_t queue_number(struct queue *queue);
int64_t device_id(struct device *device);
struct queue *known_queue(cl_command_queue handle);
void adopt_queue(cl_command_queue handle);
void devices_forget_ids(void);

/* programs.c, builds.c */
struct function {
    struct function *next;
    struct build *build;
    char *name;
    cl_uint arguments;
    unsigned char *classes; /* enum class, one per argument */
    uint32_t distinct;      /* its launches in the log */
};
struct build {
    int64_t id; /* in the log, -1 before it is written */
    char *described;
    struct build **linked;
    size_t linked_count;
    struct function *functions;
};
struct program {
    uint32_t references;
    const char *kind;
    char sha256[65]; /* "" without a source, binary or IL */
    bool has_source;
    struct build *build; /* the last one, NULL before the first */
};
struct build *build_of(const char *kind, const char *sha256, bool has_source, const char *options, struct text *headers,
                       struct build **linked, size_t linked_count);
int64_t build_id(struct build *build);
void builds_forget_ids(void);
struct build *program_build(cl_program handle);

/* memory.c: buffers, images, samplers and shared virtual memory */
struct memory {
    uint32_t references;
    bool is_image;
    bool readable; /* an input that the host may read */
    bool shared;   /* in memory that host and device share */
    bool written;  /* by the host, at least once */
    uint64_t bytes;
    uint32_t size[3], order, type;
};
struct memory *known_memory(cl_mem handle);
bool known_sampler(cl_sampler handle);
void remember_memory(cl_mem handle, bool created);
uint64_t svm_bytes(const void *pointer);
void text_channels(struct text *text, const struct memory *image);

/* kernels.c */
enum class { CLASS_UNKNOWN, CLASS_MEMORY, CLASS_LOCAL, CLASS_SAMPLER, CLASS_VALUE };
enum kind { UNSET, BUFFER, IMAGE, LOCAL, VALUE, SAMPLER, SVM, NULL_BUFFER };
struct argument {
    enum kind kind;
    uint64_t bytes;
    uint64_t state, shape; /* hashes with and without its value */
    cl_mem handle;
    struct memory memory;
    unsigned char small[16];
    unsigned char *large; /* a value that is larger than `small` */
};
struct kernel {
    uint32_t references;
    struct function *function;
    uint64_t state, shape; /* of all arguments */
    struct argument arguments[];
};
struct kernel *lock_with_kernel(cl_kernel handle);
void text_argument(struct text *text, const struct argument *argument);

/* launches.c */
void launches_forget(void);

/* commands.c; the caller does not hold the lock unless said otherwise */
enum command_kind {
    LAUNCH = 1, WRITE, READ, COPY, FILL, MAP, UNMAP, MIGRATE, MARKER, BARRIER, FINISH, WAIT, FLUSH, CREATE, BUILD,
    REFUSED = 255
};
enum {
    BLOCKING = 1,
    FIRST = 2, /* writes to a buffer that nothing was written to, or to memory of the host that was never touched */
    PINNED = 4
};
#define NO_NUMBER UINT32_MAX
struct command {
    uint32_t kind; /* enum command_kind; 0 before the call returns */
    uint32_t launch, queue; /* numbers in the log, or NO_NUMBER */
    uint32_t flags;
    uint64_t bytes;
    uint64_t begin_ns, end_ns; /* of the call, by the host's monotonic clock */
    uint64_t queued_ns, start_ns, finish_ns; /* by the device's clock; 0 if the queue has no profiling */
    uint32_t thread;
    uint32_t waits; /* number of events waited for */
    uint32_t waited[6]; /* their commands' numbers, plus 1; 0 for none */
};
_Static_assert(sizeof(struct command) == 96, "a record of the commands file has 96 bytes");
struct facts {
    uint32_t launch, flags;
    uint64_t bytes;
};
struct call {
    enum command_kind kind;
    struct command *command; /* NULL: not recorded */
    struct slot *slot;       /* of a launch */
    uint64_t begin_ns;
    uint32_t number;
    bool profiling;
    cl_event own, *asked;
};
struct call command_begin(enum command_kind kind, cl_command_queue queue, const struct facts *facts, cl_uint waiting,
                          const cl_event *wait_list);
cl_event *command_event(struct call *call, cl_event *event);
void command_end(struct call *call, cl_int result);
void commands_open(const char *commands_path); /* with the lock */
void commands_forget(void);                    /* with the lock */

/* events.c; the caller does not hold the lock */
void events_add(cl_event event, struct slot *slot, struct command *command, bool ours);
void events_collect(void);
void events_collect_all(void);
void events_forget(void);

/* contents.c; the caller does not hold the lock */
struct content {
    cl_mem handle;
    uint64_t bytes;
    cl_uint index;
};
void contents_send(cl_command_queue queue, uint32_t launch, const struct content *contents, size_t count,
                   cl_uint waiting, const cl_event *wait_list);

#endif
