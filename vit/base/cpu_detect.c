/* Which instruction sets there are: on x86 by CPUID and XGETBV, and of AMX, by asking Linux. */
#ifdef __linux__
#define _GNU_SOURCE /* syscall, __WALL */
#endif

#include "vit/base/cpu.h"

#include <errno.h>

#ifdef __linux__
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Which registers the operating system saves when it switches threads. Only after CPUID has said
 * OSXSAVE. */
static uint32_t saved_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has(uint32_t word, uint32_t bits) {
    return (word & bits) == bits;
}

vit_cpu vit_cpu_detect(void) {
    const uint32_t ssse3_sse41 = 1u << 9 | 1u << 19;
    const uint32_t osxsave_avx_fma = 1u << 27 | 1u << 28 | 1u << 12;
    const uint32_t avx2 = 1u << 5;
    const uint32_t avx512_f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    const uint32_t avx512_bf16 = 1u << 5;
    const uint32_t amx_bf16_tile_int8 = 1u << 22 | 1u << 24 | 1u << 25;
    const uint32_t xmm_ymm = 0x06, opmask_zmm = 0xe0, tiles = 3u << 17;
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, ssse3_sse41)) return VIT_CPU_SCALAR;
    if (!has(c, osxsave_avx_fma)) return VIT_CPU_SSE41;
    const uint32_t saved = saved_registers();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, avx2) || !has(saved, xmm_ymm))
        return VIT_CPU_SSE41;
    if (!has(b, avx512_f_dq_bw_vl) || !has(saved, opmask_zmm)) return VIT_CPU_AVX2;
    const bool amx = has(d, amx_bf16_tile_int8) && has(saved, tiles);
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || !has(a, avx512_bf16)) return VIT_CPU_AVX512;
    return amx ? VIT_CPU_AMX : VIT_CPU_AVX512BF16;
}

bool vit_cpu_has_vnni(vit_cpu cpu) {
    const uint32_t avx512_vnni = 1u << 11, avx_vnni = 1u << 4;
    uint32_t a, b, c, d;
    if (vit_cpu_detect() < cpu) return false;
    if (cpu >= VIT_CPU_AVX512)
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && has(c, avx512_vnni);
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && has(a, avx_vnni);
}

#else

vit_cpu vit_cpu_detect(void) {
#if defined(__aarch64__)
    return VIT_CPU_NEON;
#elif defined(__wasm__)
    return VIT_CPU_SIMD128;
#else
    return VIT_CPU_SCALAR;
#endif
}

bool vit_cpu_has_vnni(vit_cpu cpu) {
#if defined(__aarch64__) && defined(__linux__)
    const unsigned long sdot = 1ul << 20; /* HWCAP_ASIMDDP */
    return cpu == VIT_CPU_NEON && (getauxval(AT_HWCAP) & sdot) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
    return cpu == VIT_CPU_NEON; /* all of Apple's for the Mac */
#else
    (void)cpu;
    return false;
#endif
}

#endif

/* ---- the tiles of AMX ---- */

#if defined(__linux__) && defined(__x86_64__)

/* One instruction of each kind, as bytes: not every assembler knows them. */
static void touch_tiles(void) {
    static const uint8_t config[64]
        __attribute__((aligned(64))) = {[0] = 1, [16] = 64, [48] = 16}; /* tile 0: 16 rows of 64 */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00"               /* ldtilecfg (%rax) */
                     :
                     : "a"(config), "m"(config));
    __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0"); /* tilezero %tmm0 */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"); /* tilerelease */
}

/* The child has the parent's permission and a copy of its memory. It gives no SIGCHLD and is not
 * found by the host's wait(); nothing of the C library runs in it. */
bool vit_cpu_try_tiles(void) {
    const long child = syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        signal(SIGILL, SIG_DFL);
        setrlimit(RLIMIT_CORE, &none);
        touch_tiles();
        _exit(0);
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
        missing = "an instruction of them ends a process, although the processor names them";
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
