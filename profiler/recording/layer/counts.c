/* Launch counts, in a memory-mapped file: counting needs no system call, and the counts survive a crash. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS_PER_STEP = 1024, MAX_STEPS = 256, SAMPLES = sizeof((struct slot *)0)->samples_us / sizeof(double) };

static char path[PATH_MAX + 64];
static struct slot *steps[MAX_STEPS];
static uint64_t random_state = 0x2545F4914F6CDD1Du;

void counts_open(const char *counts_path) {
    snprintf(path, sizeof path, "%s", counts_path);
    if (slot_of(0) == NULL)
        log_problem(NO_COUNTS, "launches cannot be counted: the recording's folder takes no more files");
}

/* Return the slot of a launch, or NULL if there are too many launches or the disk is full. */
struct slot *slot_of(uint32_t launch) {
    size_t step = launch / SLOTS_PER_STEP;
    if (step >= MAX_STEPS)
        return NULL;
    if (steps[step] == NULL) {
        steps[step] = map_part(path, step, SLOTS_PER_STEP * sizeof(struct slot));
        if (steps[step] == NULL)
            return NULL;
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
