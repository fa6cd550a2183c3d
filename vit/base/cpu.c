#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "vit/base/cpu.h"
#include "vit/base/size.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#endif

static const char *const names[] = {"scalar", "neon",       "simd128", "avx2",
                                    "avx512", "avx512bf16", "amx"};
VIT_CHECK_ROWS(names, VIT_CPU_COUNT);

const char *vit_cpu_name(vit_cpu cpu) {
    return names[cpu];
}

bool vit_cpu_parse(const char *name, vit_cpu *cpu) {
    for (size_t i = 0; i < VIT_CPU_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *cpu = (vit_cpu)i;
            return true;
        }
    }
    return false;
}

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

/* Linux gives a process permission to use the data of tiles when it asks, for all threads that it
 * has and will have. */
static bool may_use_tiles(void) {
#if defined(__linux__) && defined(__x86_64__)
    static atomic_int known; /* 0: not asked for yet; 1: no; 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer > 0) return answer == 2;
    const long ask = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA */
    answer = syscall(SYS_arch_prctl, ask, tile_data) == 0 ? 2 : 1;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
    return answer == 2;
#else
    return false;
#endif
}

vit_cpu vit_cpu_detect(void) {
    const uint32_t osxsave_avx_fma = 1u << 27 | 1u << 28 | 1u << 12;
    const uint32_t avx2 = 1u << 5;
    const uint32_t avx512_f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    const uint32_t avx512_bf16 = 1u << 5;
    const uint32_t amx_bf16_tile_int8 = 1u << 22 | 1u << 24 | 1u << 25, tiles = 3u << 17;
    const uint32_t xmm_ymm = 0x06, opmask_zmm = 0xe0;
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, osxsave_avx_fma)) return VIT_CPU_SCALAR;
    uint32_t saved = saved_registers();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, avx2) || !has(saved, xmm_ymm))
        return VIT_CPU_SCALAR;
    if (!has(b, avx512_f_dq_bw_vl) || !has(saved, opmask_zmm)) return VIT_CPU_AVX2;
    const bool amx = has(d, amx_bf16_tile_int8) && has(saved, tiles) && may_use_tiles();
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

/* 48 characters in three leaves, padded with spaces. */
static bool read_brand(char raw[49]) {
    uint32_t words[12];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t *w = words + 4 * i;
        if (__get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3]) == 0) return false;
    }
    memcpy(raw, words, 48);
    raw[48] = '\0';
    return raw[strspn(raw, " ")] != '\0';
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

static bool read_brand(char raw[49]) {
    (void)raw;
    return false;
}

#endif

void vit_cpu_brand(char *text, int size) {
    char raw[49];
    const char *p = read_brand(raw) ? raw : "unknown processor";
    int length = 0;
    for (; *p != '\0' && length < size - 1; p++) {
        bool spare = *p == ' ' && (length == 0 || p[1] == ' ' || p[1] == '\0');
        if (!spare) text[length++] = *p;
    }
    if (size > 0) text[length] = '\0';
}

static int processors(void) {
#ifdef __linux__
    cpu_set_t sets[16]; /* one holds 1024 processors; the kernel refuses too small a mask */
    if (sched_getaffinity(0, sizeof sets, sets) == 0) {
        int count = CPU_COUNT_S(sizeof sets, sets);
        return count > 0 ? count : 1;
    }
#endif
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
    return 1; /* the system's answer is not about this page, which can start no thread */
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

uint64_t vit_cpu_places(void) {
    uint64_t hash = 0;
#ifdef __linux__
    cpu_set_t sets[16];
    memset(sets, 0, sizeof sets);
    if (sched_getaffinity(0, sizeof sets, sets) != 0) return 0;
    hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < sizeof sets; i++)
        hash = (hash ^ ((const uint8_t *)sets)[i]) * 1099511628211u;
#endif
    return hash;
}

static atomic_size_t cache; /* 0: not asked for yet */

size_t vit_cpu_cache(void) {
    size_t bytes = atomic_load_explicit(&cache, memory_order_relaxed);
    if (bytes > 0) return bytes;
    bytes = (size_t)512 << 10;
#ifdef _SC_LEVEL2_CACHE_SIZE /* glibc; its answer takes as long as a small product */
    const long here = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (here > 0) bytes = (size_t)here;
#endif
    vit_cpu_assume_cache(bytes);
    return bytes;
}

void vit_cpu_assume_cache(size_t bytes) {
    atomic_store_explicit(&cache, bytes, memory_order_relaxed);
}

int vit_cpu_count(void) {
    const int count = processors(), quota = vit_cpu_quota("");
    return quota > 0 && quota < count ? quota : count;
}
