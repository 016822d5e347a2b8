/* Contents of buffers, sent over a socket before a launch; `kernelcast record` keeps a description, not the data. */
#include "layer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, BLOCK_BYTES = 64 << 10 };

static atomic_bool has_user_events;

/* Nothing is read in a program with user events: it may complete one only after the launch, and a read before the
 * launch would wait for it forever. */
cl_event layer_clCreateUserEvent(cl_context context, cl_int *error) {
    has_user_events = true;
    return NEXT(clCreateUserEvent)(context, error);
}

static bool send_all(int connection, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = send(connection, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool send_message(struct log_name name, uint32_t launch, cl_uint argument, const void *bytes, size_t length) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, settings.socket, sizeof address.sun_path - 1);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return false;
    struct text json = {0};
    text_format(&json, "{\"pid\": %ld, \"n\": %d, \"launch\": %u, \"arg\": %u, \"bytes\": %zu}", name.pid, name.number,
                launch, argument, length);
    uint32_t size = (uint32_t)json.length;
    unsigned char prefix[4] = {(unsigned char)size, (unsigned char)(size >> 8), (unsigned char)(size >> 16),
                               (unsigned char)(size >> 24)};
    bool sent = connect(connection, (struct sockaddr *)&address, sizeof address) == 0 &&
                send_all(connection, prefix, sizeof prefix) && send_all(connection, json.data, json.length) &&
                send_all(connection, bytes, length);
    close(connection);
    text_free(&json);
    return sent;
}

/* Flush the queues of the events that the launch waits for, because a read is about to wait for them, too. */
static void flush_others(cl_uint waiting, const cl_event *wait_list) {
    for (cl_uint i = 0; i < waiting; i++) {
        cl_command_queue queue = NULL;
        NEXT(clGetEventInfo)(wait_list[i], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
        if (queue != NULL)
            NEXT(clFlush)(queue);
    }
}

/* Read a buffer, or evenly spaced blocks of a large one. Return the number of bytes read, 0 if it cannot be read. */
static size_t read_buffer(cl_command_queue queue, const struct content *content, unsigned char *into, cl_uint waiting,
                          const cl_event *wait_list) {
    if (content->bytes <= MOST_BYTES) {
        cl_int result = NEXT(clEnqueueReadBuffer)(queue, content->handle, 1, 0, (size_t)content->bytes, into, waiting,
                                                  wait_list, NULL);
        return result == CL_SUCCESS ? (size_t)content->bytes : 0;
    }
    size_t blocks = MOST_BYTES / BLOCK_BYTES;
    for (size_t i = 0; i < blocks; i++) {
        uint64_t begin = (content->bytes - BLOCK_BYTES) / (blocks - 1) * i / 64 * 64; /* aligned for any type */
        if (NEXT(clEnqueueReadBuffer)(queue, content->handle, 1, (size_t)begin, BLOCK_BYTES, into + i * BLOCK_BYTES,
                                      waiting, wait_list, NULL) != CL_SUCCESS)
            return 0;
    }
    return MOST_BYTES;
}

static void give_up(const char *why) {
    lock();
    log_problem(NO_CONTENTS, why);
    unlock();
}

void contents_send(cl_command_queue queue, uint32_t launch, const struct content *contents, size_t count,
                   cl_uint waiting, const cl_event *wait_list) {
    if (has_user_events) {
        give_up("contents of buffers are not sampled: the program uses user events, and reading could wait forever");
        return;
    }
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = contents[i].bytes > most ? contents[i].bytes : most;
    unsigned char *bytes = malloc(most < MOST_BYTES ? (size_t)most : MOST_BYTES);
    if (bytes == NULL) {
        give_up("contents of buffers are not sampled: memory ran out");
        return;
    }
    lock();
    struct log_name name = log_name();
    unlock();
    flush_others(waiting, wait_list);
    for (size_t i = 0; i < count; i++) {
        size_t length = read_buffer(queue, &contents[i], bytes, waiting, wait_list);
        if (length > 0 && !send_message(name, launch, contents[i].index, bytes, length)) {
            give_up("contents of buffers are not sampled: `kernelcast record` does not take them any more");
            break;
        }
    }
    free(bytes);
}
