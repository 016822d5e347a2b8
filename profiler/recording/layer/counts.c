/* The counts of launches: a file in memory, so that counting needs no system call and survives a crash. */
#include "layer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS_A_STEP = 1024, MOST_STEPS = 256, SAMPLES = 27 };

static int file = -1;
static struct slot *steps[MOST_STEPS];
static uint64_t random_state = 0x2545F4914F6CDD1Du;

void counts_open(const char *path) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0)
        slot_of(0); /* the program may close our file later: the first step is there by then */
    if (steps[0] == NULL)
        log_problem(NO_COUNTS, "launches cannot be counted: the recording's folder takes no more files");
}

/* Return the slot of a launch, NULL where there is none (too many launches, or no space). */
struct slot *slot_of(uint32_t launch) {
    const size_t bytes = SLOTS_A_STEP * sizeof(struct slot);
    size_t step = launch / SLOTS_A_STEP;
    if (step >= MOST_STEPS)
        return NULL;
    if (steps[step] == NULL) {
        /* posix_fallocate and not ftruncate alone: a page for which the disk has no room would raise SIGBUS later. */
        if (file < 0 || ftruncate(file, (off_t)((step + 1) * bytes)) != 0 ||
            posix_fallocate(file, (off_t)(step * bytes), (off_t)bytes) != 0)
            return NULL;
        void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)(step * bytes));
        if (mapped == MAP_FAILED)
            return NULL;
        steps[step] = mapped;
    }
    return &steps[step][launch % SLOTS_A_STEP];
}

/* Add a time, with the lock held. The samples stay a fair draw of all times (reservoir sampling). */
void slot_add_time(struct slot *slot, double time_us) {
    slot->min_us = slot->timed == 0 || time_us < slot->min_us ? time_us : slot->min_us;
    slot->max_us = slot->timed == 0 || time_us > slot->max_us ? time_us : slot->max_us;
    slot->sum_us += time_us;
    uint64_t place = slot->timed++;
    if (place >= SAMPLES) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        place = (random_state >> 33) % slot->timed;
    }
    if (place < SAMPLES)
        slot->samples_us[place] = time_us;
}

/* Leave the file to the parent. What is mapped stays mapped: a thread's slot may point into it. */
void counts_forget(void) {
    if (file >= 0)
        close(file);
    file = -1;
    memset(steps, 0, sizeof steps);
}
