/* Launch counts, in a memory-mapped file: counting needs no system call, and the counts survive a crash. */
#include "layer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS_PER_STEP = 1024, MAX_STEPS = 256, SAMPLES = sizeof((struct slot *)0)->samples_us / sizeof(double) };

static char path[PATH_MAX + 64];
static struct slot *steps[MAX_STEPS];
static uint64_t random_state = 0x2545F4914F6CDD1Du;

void counts_open(const char *counts_path) {
    snprintf(path, sizeof path, "%s", counts_path);
    if (slot_of(0) == NULL)
        log_problem(NO_COUNTS, "launches cannot be counted: the recording's folder takes no more files");
}

/* Map one more step of the file. No descriptor stays open: the program could close it and get its number for a file
 * of its own, which would then be resized here. */
static void *map_step(size_t step) {
    const off_t bytes = SLOTS_PER_STEP * sizeof(struct slot), begin = (off_t)step * bytes;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return MAP_FAILED;
    /* ftruncate alone would leave a hole, and writing to it on a full disk raises SIGBUS. */
    bool reserved = ftruncate(file, begin + bytes) == 0 && posix_fallocate(file, begin, bytes) == 0;
    void *mapped =
        reserved ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, begin) : MAP_FAILED;
    close(file);
    return mapped;
}

/* Return the slot of a launch, or NULL if there are too many launches or the disk is full. */
struct slot *slot_of(uint32_t launch) {
    size_t step = launch / SLOTS_PER_STEP;
    if (step >= MAX_STEPS)
        return NULL;
    if (steps[step] == NULL) {
        void *mapped = map_step(step);
        if (mapped == MAP_FAILED)
            return NULL;
        steps[step] = mapped;
    }
    return &steps[step][launch % SLOTS_PER_STEP];
}

/* Add a time; the caller holds the lock. The samples are a uniform sample of all times (reservoir sampling). */
void slot_add_time(struct slot *slot, double time_us) {
    slot->sum_us += time_us;
    uint64_t place = slot->timed++;
    if (place >= SAMPLES) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        place = (random_state >> 33) % slot->timed;
    }
    if (place < SAMPLES)
        slot->samples_us[place] = time_us;
}

/* After a fork: leave the file to the parent. The steps stay mapped, because a thread's slot may point into one. */
void counts_forget(void) {
    memset(steps, 0, sizeof steps);
}
