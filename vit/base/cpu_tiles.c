/* Whether this process may use the tiles of AMX: Linux is asked, and a child process tries them. */
#ifdef __linux__
#define _GNU_SOURCE /* syscall, __WALL */
#endif

#include "vit/base/cpu.h"

#if defined(__linux__) && defined(__x86_64__)
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef union tile {
    uint32_t words[16 * 16];
    float floats[16 * 16];
} tile;

/* sums = numbers times themselves, by TDPBSSD and by TDPBF16PS. The instructions are bytes here:
 * not every assembler knows them. */
static void multiply_tiles(tile sums[2], const tile *numbers) {
    static const uint8_t config[64]
        __attribute__((aligned(64))) = {[0] = 1,   [16] = 64, [18] = 64, [20] = 64,
                                        [48] = 16, [49] = 16, [50] = 16}; /* three tiles */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00\n"               /* ldtilecfg (%%rax) */
                     ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0x11\n" /* tileloadd (%%rcx,%%rdx), 1 */
                     ".byte 0xc4, 0xe2, 0x79, 0x4b, 0x14, 0x11\n" /* tileloaddt1 (the same), 2 */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0\n"       /* tilezero 0 */
                     ".byte 0xc4, 0xe2, 0x6b, 0x5e, 0xc1\n"       /* tdpbssd 2, 1, 0 */
                     ".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x16\n" /* tilestored 0, (%%rsi,%%rdx) */
                     ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0\n"       /* tilezero 0 */
                     ".byte 0xc4, 0xe2, 0x6a, 0x5c, 0xc1\n"       /* tdpbf16ps 2, 1, 0 */
                     ".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x17\n" /* tilestored 0, (%%rdi,%%rdx) */
                     ".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0\n"       /* tilerelease */
                     :
                     : "a"(config), "c"(numbers), "d"((long)64), "S"(&sums[0]), "D"(&sums[1])
                     : "memory");
}

/* Numbers of a byte are 63, those of bfloat16 191 / 256: their sums are exact. */
static bool tiles_are_right(void) {
    tile numbers, sums[2];
    for (size_t i = 0; i < 16 * 16; i++) numbers.words[i] = 0x3f3f3f3f;
    multiply_tiles(sums, &numbers);
    for (size_t i = 0; i < 16 * 16; i++)
        if (sums[0].words[i] != 64 * 63 * 63 || sums[1].floats[i] != 32 * 191.f * 191 / 65536)
            return false;
    return true;
}

/* The child has the parent's permission and a copy of its memory. It gives no SIGCHLD and is not
 * found by the host's wait(); nothing of the C library runs in it. */
bool vit_cpu_try_tiles(void) {
    const long child = syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        signal(SIGILL, SIG_DFL);
        setrlimit(RLIMIT_CORE, &none);
        _exit(tiles_are_right() ? 0 : 1);
    }
    if (child < 0) return true; /* a sandbox forbids it; Linux has given the permission */
    int status = 0;
    while (waitpid((pid_t)child, &status, __WALL) < 0)
        if (errno != EINTR) return true;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *missing; /* once asked; NULL: nothing */

static void ask_for_tiles(void) {
    const long ask = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA */
    if (vit_cpu_detect() < VIT_CPU_AMX)
        missing = "this processor or its system has none";
    else if (syscall(SYS_arch_prctl, ask, tile_data) != 0)
        missing = errno == ENOSPC ? "Linux refuses them, as the alternate signal stack of a thread "
                                    "of this process is too small for them"
                                  : "the system refuses them to this process";
    else if (!vit_cpu_try_tiles())
        missing = "a trial of their instructions failed, although the processor names them";
}

const char *vit_cpu_tiles_missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_for_tiles);
    return missing;
}

#else

bool vit_cpu_try_tiles(void) {
    return false;
}

const char *vit_cpu_tiles_missing(void) {
    return "this processor or its system has none";
}

#endif
