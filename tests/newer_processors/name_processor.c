/* Linked into the tests' C programs: what `profiler/device_worker/unknown_processor.py` does in Kernelcast's processes.
 * Without KERNELCAST_TESTS_POCL, a path of PoCL's library, and KERNELCAST_TESTS_PROCESSOR it does nothing. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *processor(void) { return strdup(getenv("KERNELCAST_TESTS_PROCESSOR")); }

__attribute__((constructor)) static void name_processor(void) {
    const char *library = getenv("KERNELCAST_TESTS_POCL");
    void *loaded = library == NULL ? NULL : dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    uint8_t *function = loaded == NULL ? NULL : dlsym(loaded, "pocl_get_llvm_cpu_name");
    if (function == NULL)
        return;
    uint8_t jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* move the address into rax, jump there */
    char *(*target)(void) = processor;
    memcpy(jump + 2, &target, sizeof target);
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)function & ~(size - 1);
    if (mprotect((void *)page, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        perror("PoCL's code cannot be changed");
        return;
    }
    memcpy(function, jump, sizeof jump);
    mprotect((void *)page, 2 * size, PROT_READ | PROT_EXEC);
}
