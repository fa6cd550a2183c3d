/* Which instructions this processor and its operating system have (on x86 by CPUID and XGETBV).
 * Kernels are chosen by feature, never by processor family or by flags of the compiler. */
#ifndef VIT_BASE_CPU_H
#define VIT_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From least to most capable. On one processor each set contains those before it of its family. */
typedef enum vit_cpu {
    VIT_CPU_SCALAR,
    VIT_CPU_SSE41,      /* x86: SSE4.1 and what is older */
    VIT_CPU_NEON,       /* AArch64; Advanced SIMD is part of it */
    VIT_CPU_SIMD128,    /* WebAssembly */
    VIT_CPU_AVX2,       /* AVX2, FMA */
    VIT_CPU_AVX512,     /* AVX-512 F, VL, BW, DQ */
    VIT_CPU_AVX512BF16, /* and BF16 */
    VIT_CPU_AMX,        /* and AMX TILE, BF16, INT8 */
    VIT_CPU_COUNT,
} vit_cpu;

/* The most capable set of this processor and operating system. Of AMX, whether there is one: Linux
 * must be asked before it is used. */
vit_cpu vit_cpu_detect(void);

/* NULL if this process may use the tiles of AMX and they work, else why not, as a part of a
 * sentence. The first call asks Linux, for all threads that the process has and will have: from
 * then on it refuses alternate signal stacks that are too small to save tiles on (below 12 KiB).
 * The permission is kept over fork and lost by exec. Any threads may call it. */
const char *vit_cpu_tiles_missing(void);

/* Whether the instructions of tiles work and give the right sums: a child process tries them. */
bool vit_cpu_try_tiles(void);

/* Whether it also has VPDPBUSD, on top of AVX2 (AVX-VNNI) or of AVX512 (AVX512_VNNI); of NEON:
 * SDOT. */
bool vit_cpu_has_vnni(vit_cpu cpu);

/* Whether it has the instructions for SHA-256 of x86-64. */
bool vit_cpu_has_sha(void);

const char *vit_cpu_name(vit_cpu cpu); /* "avx2" */

/* *cpu = the set of this name; false for an unknown name. */
bool vit_cpu_parse(const char *name, vit_cpu *cpu);

/* text = the name of the processor, such as "AMD EPYC 9B14", at most size - 1 characters. */
void vit_cpu_brand(char *text, int size);

/* Bytes of a core's second-level cache, as the system says; 512 KiB where it does not. */
size_t vit_cpu_cache(void);

/* Makes vit_cpu_cache return this many bytes from now on, to measure what another processor's cache
 * would give; before other threads compute. */
void vit_cpu_assume_cache(size_t bytes);

/* The logical processors that this process may use, by its affinity and its control groups; at
 * least 1. */
int vit_cpu_count(void);

/* Which processors these are, as a number: equal for processes on one machine that may use the same
 * ones, by their affinity; 0: not known. */
uint64_t vit_cpu_places(void);

/* The processors that the control groups of this process allow, rounded up; 0: no limit. `root` is
 * put before /proc/self/cgroup and /sys/fs/cgroup; it is "" except in tests. */
int vit_cpu_quota(const char *root);

#endif
