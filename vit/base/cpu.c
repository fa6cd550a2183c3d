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
#endif

static const char *const names[] = {"scalar", "sse41",  "neon",       "simd128",
                                    "avx2",   "avx512", "avx512bf16", "amx"};
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
