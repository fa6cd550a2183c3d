#ifdef __APPLE__ /* for MAP_ANONYMOUS */
#define _DARWIN_C_SOURCE
#else
#define _DEFAULT_SOURCE
#endif
#include "vit/cli/serve/work/mapped.h"

#include <stdatomic.h>

static atomic_size_t missing;

size_t serve_missing_pages(void) {
    return atomic_load(&missing);
}

#ifdef _WIN32 /* a mapped file cannot be cut off there */
void serve_guard_maps(void) {
}
#else
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size;

/* Puts a page of zeros where the file has none. A fault of any other kind ends the program, as it
 * would have without this. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    const int before = errno;
    void *page = (void *)((uintptr_t)info->si_addr / page_size * page_size);
    (void)context;
    if (info->si_code == BUS_ADRERR &&
        mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
        atomic_fetch_add(&missing, 1);
    else
        signal(number, SIG_DFL); /* the instruction is tried again */
    errno = before;
}

void serve_guard_maps(void) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
#endif
