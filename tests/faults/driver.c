/* An OpenCL "driver" that has no device, and does as it loads whatever the file named by FAULT says.

   The loader takes it for a broken one and goes on; what it has done by then happened in the device process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written <= 0)
            return;
        bytes += written;
        size -= written;
    }
}

/* The pipe to the parent is the highest pipe that can be written to. */
static int pipe_to_parent(void) {
    for (int file = 63; file > 2; file--) {
        struct stat facts;
        if (fstat(file, &facts) == 0 && S_ISFIFO(facts.st_mode) && (fcntl(file, F_GETFL) & O_ACCMODE) == O_WRONLY)
            return file;
    }
    return -1;
}

static size_t read_file(const char *path, char *into, size_t most) {
    int file = path ? open(path, O_RDONLY) : -1;
    ssize_t size = file < 0 ? 0 : read(file, into, most);
    if (file >= 0)
        close(file);
    return size < 0 ? 0 : size;
}

__attribute__((constructor)) static void on_load(void) {
    static char fault[64], message[65536], noise[65536];
    fault[read_file(getenv("FAULT"), fault, sizeof fault - 1)] = 0;
    memset(noise, 'x', sizeof noise);
    if (!strcmp(fault, "hang"))
        for (;;)
            pause();
    if (!strcmp(fault, "crash"))
        abort();
    if (!strcmp(fault, "leave"))
        _exit(0);
    if (!strcmp(fault, "chat")) {
        puts("from the driver's printf");
        fflush(stdout);
        for (int i = 0; i < 2048; i++) /* 128 MB, to what it takes for stdout */
            write_all(1, noise, sizeof noise);
    }
    if (!strcmp(fault, "garble"))
        write_all(pipe_to_parent(), "Content-Length: 5\r\n\r\n{}  \n", 25);
    if (!strcmp(fault, "flood")) {
        size_t size = read_file(getenv("FAULT_MESSAGE"), message, sizeof message);
        for (int i = 0; i < 50000; i++)
            write_all(pipe_to_parent(), message, size);
    }
}
