/* The log of one process: JSON lines, each appended with one write, and program sources in files beside it. */
#include "layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    int file;
    dev_t device; /* and inode: the program may close the log and get its descriptor for another file */
    ino_t inode;
    struct log_name name;
    bool open, broken;
    unsigned problems; /* a bit for each that was written */
    char path[PATH_MAX + 64];
} state = {.file = -1};

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool remember_file(int file) {
    struct stat found;
    if (file < 0 || fstat(file, &found) != 0)
        return false;
    state.file = file;
    state.device = found.st_dev;
    state.inode = found.st_ino;
    return true;
}

static bool is_still_ours(void) {
    struct stat found;
    return fstat(state.file, &found) == 0 && found.st_dev == state.device && found.st_ino == state.inode;
}

void log_line(struct text *line) {
    text_bytes(line, "\n", 1);
    if (!state.open || state.broken || line->failed)
        return;
    if (!is_still_ours() && !remember_file(open(state.path, O_WRONLY | O_APPEND | O_CLOEXEC))) {
        state.broken = true;
        return;
    }
    ssize_t written;
    do
        written = write(state.file, line->data, line->length);
    while (written < 0 && errno == EINTR);
    /* An incomplete line would corrupt the next one. */
    if (written != (ssize_t)line->length)
        state.broken = true;
}

static void write_process(void) {
    char folder[PATH_MAX];
    struct text line = {0};
    text_format(&line, "{\"record\": \"process\", \"version\": 1, \"pid\": %ld, \"writer\": \"layer\", \"cwd\": ",
                state.name.pid);
    text_quoted(&line, getcwd(folder, sizeof folder) == NULL ? "" : folder);
    text_format(&line, ", \"started_at\": %.6f}", now_s());
    log_line(&line);
    text_free(&line);
}

bool log_open(void) {
    if (state.open || state.broken)
        return !state.broken;
    state.name.pid = (long)getpid();
    for (int number = 0; !state.open && number < 10000; number++) {
        snprintf(state.path, sizeof state.path, "%s/%ld-%d.jsonl", settings.folder, state.name.pid, number);
        int file = open(state.path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            break;
        state.open = remember_file(file);
        state.name.number = number;
    }
    state.broken = !state.open;
    if (state.broken)
        return false;
    write_process();
    char beside[PATH_MAX + 64];
    snprintf(beside, sizeof beside, "%s/%ld-%d.counts", settings.folder, state.name.pid, state.name.number);
    counts_open(beside);
    snprintf(beside, sizeof beside, "%s/%ld-%d.commands", settings.folder, state.name.pid, state.name.number);
    commands_open(beside);
    return true;
}

void log_problem(enum problem problem, const char *message) {
    if (state.problems & 1u << problem)
        return;
    state.problems |= 1u << problem;
    struct text line = {0};
    text_format(&line, "{\"record\": \"problem\", \"message\": ");
    text_quoted(&line, message);
    text_format(&line, "}");
    log_line(&line);
    text_free(&line);
}

/* Leave the log to the parent of a fork; this process starts its own. */
void log_forget(void) {
    if (state.file >= 0 && is_still_ours())
        close(state.file);
    state.file = -1;
    state.open = state.broken = false;
    state.problems = 0;
}

struct log_name log_name(void) {
    return state.name;
}

static bool write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Write a source beside the log unless it is there; another process may be writing the same one. */
bool log_source(const void *bytes, size_t length, const char *sha256) {
    char path[PATH_MAX + 128], temporary[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/program-%s.cl", settings.folder, sha256);
    if (access(path, F_OK) == 0)
        return true;
    snprintf(temporary, sizeof temporary, "%s/.%ld-%s.tmp", settings.folder, (long)getpid(), sha256);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool whole = file >= 0 && write_all(file, bytes, length);
    whole = file >= 0 && close(file) == 0 && whole;
    if (whole && rename(temporary, path) == 0)
        return true;
    unlink(temporary);
    log_problem(NO_SOURCE, "the source of a program could not be written: is the disk full?");
    return false;
}

/* Map the part at a place of a file that grows part by part; NULL if the disk is full. No descriptor stays open: the
 * program could close it and get its number for a file of its own, which would then be resized here. */
void *map_part(const char *path, size_t place, size_t bytes) {
    const off_t begin = (off_t)(place * bytes), length = (off_t)bytes;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    /* ftruncate alone would leave a hole, and writing to it on a full disk raises SIGBUS. */
    bool reserved = ftruncate(file, begin + length) == 0 && posix_fallocate(file, begin, length) == 0;
    void *mapped = reserved ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, begin) : MAP_FAILED;
    close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}
