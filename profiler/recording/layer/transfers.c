/* Transfers, markers and waits: each is passed on and written into the sequence of commands. */
#include "layer.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST_MAPPED = 64, LARGE_BYTES = 64 << 10 };

/* Buffers that are mapped and were allocated in memory that the host shares with the device: pointers into them. */
static struct {
    uintptr_t begin, end;
} pinned[MOST_MAPPED];

static uint32_t pinned_flag(const void *pointer) {
    uint32_t flag = 0;
    lock();
    for (size_t i = 0; i < MOST_MAPPED; i++)
        if ((uintptr_t)pointer >= pinned[i].begin && (uintptr_t)pointer < pinned[i].end)
            flag = PINNED;
    unlock();
    return flag;
}

static void add_pinned(const void *begin, size_t bytes) {
    lock();
    for (size_t i = 0; i < MOST_MAPPED; i++)
        if (pinned[i].begin == 0) {
            pinned[i].begin = (uintptr_t)begin;
            pinned[i].end = (uintptr_t)begin + bytes;
            break;
        }
    unlock();
}

static void remove_pinned(const void *begin) {
    lock();
    for (size_t i = 0; i < MOST_MAPPED; i++)
        if (pinned[i].begin == (uintptr_t)begin)
            pinned[i].begin = pinned[i].end = 0;
    unlock();
}

/* Return FIRST for the first command that writes to an object: a driver may only then get its memory. */
static uint32_t first_flag(cl_mem handle) {
    lock();
    struct memory *memory = known_memory(handle);
    uint32_t flag = memory != NULL && !memory->written ? FIRST : 0;
    if (memory != NULL)
        memory->written = true;
    unlock();
    return flag;
}

/* Return FIRST if the host's memory was never touched: the system then gets its pages during the transfer. */
static uint32_t untouched_flag(const void *into, uint64_t bytes) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident = 1;
    uintptr_t middle = ((uintptr_t)into + bytes / 2) / page * page;
    return bytes >= LARGE_BYTES && mincore((void *)middle, page, &resident) == 0 && !(resident & 1) ? FIRST : 0;
}

static bool shares_host_memory(cl_mem handle) {
    lock();
    struct memory *memory = known_memory(handle);
    bool shares = memory != NULL && memory->shared;
    unlock();
    return shares;
}

static uint64_t pixel_bytes(cl_mem image) {
    size_t bytes = 0;
    NEXT(clGetImageInfo)(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL);
    return bytes;
}

static uint64_t volume(const size_t *region) {
    return region == NULL ? 0 : (uint64_t)region[0] * region[1] * region[2];
}

static uint32_t is_blocking(cl_uint blocking) {
    return blocking ? BLOCKING : 0;
}

/* Begin a command, call the driver with `...` and the place of its event, and end it. */
#define PASS_ON(KIND, QUEUE, FLAGS, BYTES, NAME, ...) \
    struct call call = command_begin(KIND, QUEUE, &(struct facts){NO_NUMBER, FLAGS, BYTES}, waiting, wait_list); \
    cl_int result = NEXT(NAME)(__VA_ARGS__, waiting, wait_list, command_event(&call, event)); \
    command_end(&call, result)

cl_int layer_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocking, size_t offset, size_t bytes,
                                 void *into, cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(READ, queue, is_blocking(blocking) | pinned_flag(into) | untouched_flag(into, bytes), bytes,
            clEnqueueReadBuffer, queue, buffer, blocking, offset, bytes, into);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocking, size_t offset, size_t bytes,
                                  const void *from, cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(WRITE, queue, is_blocking(blocking) | pinned_flag(from) | first_flag(buffer), bytes, clEnqueueWriteBuffer,
            queue, buffer, blocking, offset, bytes, from);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_uint blocking, const size_t *origin,
                                     const size_t *host_origin, const size_t *region, size_t row_pitch,
                                     size_t slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void *into,
                                     cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(READ, queue, is_blocking(blocking) | pinned_flag(into), volume(region), clEnqueueReadBufferRect, queue,
            buffer, blocking, origin, host_origin, region, row_pitch, slice_pitch, host_row_pitch, host_slice_pitch,
            into);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_uint blocking, const size_t *origin,
                                      const size_t *host_origin, const size_t *region, size_t row_pitch,
                                      size_t slice_pitch, size_t host_row_pitch, size_t host_slice_pitch,
                                      const void *from, cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(WRITE, queue, is_blocking(blocking) | pinned_flag(from) | first_flag(buffer), volume(region),
            clEnqueueWriteBufferRect, queue, buffer, blocking, origin, host_origin, region, row_pitch, slice_pitch,
            host_row_pitch, host_slice_pitch, from);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_uint blocking, const size_t *origin,
                                const size_t *region, size_t row_pitch, size_t slice_pitch, void *into, cl_uint waiting,
                                const cl_event *wait_list, cl_event *event) {
    PASS_ON(READ, queue, is_blocking(blocking) | pinned_flag(into), volume(region) * pixel_bytes(image),
            clEnqueueReadImage, queue, image, blocking, origin, region, row_pitch, slice_pitch, into);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_uint blocking, const size_t *origin,
                                 const size_t *region, size_t row_pitch, size_t slice_pitch, const void *from,
                                 cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(WRITE, queue, is_blocking(blocking) | pinned_flag(from) | first_flag(image),
            volume(region) * pixel_bytes(image), clEnqueueWriteImage, queue, image, blocking, origin, region, row_pitch,
            slice_pitch, from);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem into, size_t from_offset,
                                 size_t into_offset, size_t bytes, cl_uint waiting, const cl_event *wait_list,
                                 cl_event *event) {
    PASS_ON(COPY, queue, first_flag(into), bytes, clEnqueueCopyBuffer, queue, from, into, from_offset, into_offset,
            bytes);
    return result;
}

cl_int layer_clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem into, const size_t *from_origin,
                                     const size_t *into_origin, const size_t *region, size_t from_row_pitch,
                                     size_t from_slice_pitch, size_t into_row_pitch, size_t into_slice_pitch,
                                     cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(COPY, queue, first_flag(into), volume(region), clEnqueueCopyBufferRect, queue, from, into, from_origin,
            into_origin, region, from_row_pitch, from_slice_pitch, into_row_pitch, into_slice_pitch);
    return result;
}

cl_int layer_clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem into, const size_t *from_origin,
                                const size_t *into_origin, const size_t *region, cl_uint waiting,
                                const cl_event *wait_list, cl_event *event) {
    PASS_ON(COPY, queue, first_flag(into), volume(region) * pixel_bytes(from), clEnqueueCopyImage, queue, from, into,
            from_origin, into_origin, region);
    return result;
}

cl_int layer_clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem into, const size_t *origin,
                                        const size_t *region, size_t offset, cl_uint waiting,
                                        const cl_event *wait_list, cl_event *event) {
    PASS_ON(COPY, queue, first_flag(into), volume(region) * pixel_bytes(from), clEnqueueCopyImageToBuffer, queue, from,
            into, origin, region, offset);
    return result;
}

cl_int layer_clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem into, size_t offset,
                                        const size_t *origin, const size_t *region, cl_uint waiting,
                                        const cl_event *wait_list, cl_event *event) {
    PASS_ON(COPY, queue, first_flag(into), volume(region) * pixel_bytes(into), clEnqueueCopyBufferToImage, queue, from,
            into, offset, origin, region);
    return result;
}

cl_int layer_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                 size_t offset, size_t bytes, cl_uint waiting, const cl_event *wait_list,
                                 cl_event *event) {
    PASS_ON(FILL, queue, first_flag(buffer), bytes, clEnqueueFillBuffer, queue, buffer, pattern, pattern_bytes, offset,
            bytes);
    return result;
}

cl_int layer_clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                                const size_t *region, cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(FILL, queue, first_flag(image), volume(region) * pixel_bytes(image), clEnqueueFillImage, queue, image,
            color, origin, region);
    return result;
}

void *layer_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocking, cl_bitfield flags,
                               size_t offset, size_t bytes, cl_uint waiting, const cl_event *wait_list, cl_event *event,
                               cl_int *error) {
    struct facts facts = {NO_NUMBER, is_blocking(blocking), bytes};
    struct call call = command_begin(MAP, queue, &facts, waiting, wait_list);
    cl_int result = CL_SUCCESS;
    void *mapped = NEXT(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, bytes, waiting, wait_list,
                                            command_event(&call, event), &result);
    command_end(&call, result);
    if (error != NULL)
        *error = result;
    if (mapped != NULL && shares_host_memory(buffer))
        add_pinned(mapped, bytes);
    if (blocking)
        events_collect();
    return mapped;
}

void *layer_clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_uint blocking, cl_bitfield flags,
                              const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch,
                              cl_uint waiting, const cl_event *wait_list, cl_event *event, cl_int *error) {
    struct facts facts = {NO_NUMBER, is_blocking(blocking), volume(region) * pixel_bytes(image)};
    struct call call = command_begin(MAP, queue, &facts, waiting, wait_list);
    cl_int result = CL_SUCCESS;
    void *mapped = NEXT(clEnqueueMapImage)(queue, image, blocking, flags, origin, region, row_pitch, slice_pitch,
                                           waiting, wait_list, command_event(&call, event), &result);
    command_end(&call, result);
    if (error != NULL)
        *error = result;
    if (blocking)
        events_collect();
    return mapped;
}

cl_int layer_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void *mapped, cl_uint waiting,
                                     const cl_event *wait_list, cl_event *event) {
    remove_pinned(mapped);
    PASS_ON(UNMAP, queue, 0, 0, clEnqueueUnmapMemObject, queue, object, mapped);
    return result;
}

cl_int layer_clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_bitfield flags,
                                        cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(MIGRATE, queue, 0, 0, clEnqueueMigrateMemObjects, queue, count, objects, flags);
    return result;
}

cl_int layer_clEnqueueSVMMemcpy(cl_command_queue queue, cl_uint blocking, void *into, const void *from, size_t bytes,
                                cl_uint waiting, const cl_event *wait_list, cl_event *event) {
    PASS_ON(COPY, queue, is_blocking(blocking), bytes, clEnqueueSVMMemcpy, queue, blocking, into, from, bytes);
    if (blocking)
        events_collect();
    return result;
}

cl_int layer_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waiting, const cl_event *wait_list,
                                         cl_event *event) {
    PASS_ON(MARKER, queue, 0, 0, clEnqueueMarkerWithWaitList, queue);
    return result;
}

cl_int layer_clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waiting, const cl_event *wait_list,
                                          cl_event *event) {
    PASS_ON(BARRIER, queue, 0, 0, clEnqueueBarrierWithWaitList, queue);
    return result;
}

/* Calls that wait. */

static const struct facts no_facts = {NO_NUMBER, 0, 0};

cl_int layer_clFinish(cl_command_queue queue) {
    struct call call = command_begin(FINISH, queue, &no_facts, 0, NULL);
    cl_int result = NEXT(clFinish)(queue);
    command_end(&call, result);
    events_collect_all();
    return result;
}

cl_int layer_clFlush(cl_command_queue queue) {
    struct call call = command_begin(FLUSH, queue, &no_facts, 0, NULL);
    cl_int result = NEXT(clFlush)(queue);
    command_end(&call, result);
    return result;
}

cl_int layer_clWaitForEvents(cl_uint count, const cl_event *events) {
    struct call call = command_begin(WAIT, NULL, &no_facts, count, events);
    cl_int result = NEXT(clWaitForEvents)(count, events);
    command_end(&call, result);
    events_collect();
    return result;
}
