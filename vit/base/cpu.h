/* What instructions this processor and its operating system offer (on x86: CPUID and XGETBV).
 * Kernels are chosen by feature, never by family or by what the compiler was told. */
#ifndef VIT_BASE_CPU_H
#define VIT_BASE_CPU_H

#include <stdbool.h>

/* From least to most capable. On one processor each set contains those before it of its family. */
typedef enum vit_cpu {
    VIT_CPU_SCALAR,
    VIT_CPU_NEON,       /* AArch64; Advanced SIMD is part of it */
    VIT_CPU_AVX2,       /* AVX2, FMA */
    VIT_CPU_AVX512,     /* AVX-512 F, VL, BW, DQ */
    VIT_CPU_AVX512BF16, /* and BF16 */
    VIT_CPU_COUNT,
} vit_cpu;

vit_cpu vit_cpu_detect(void);

const char *vit_cpu_name(vit_cpu cpu);

/* The set named; false for an unknown word. */
bool vit_cpu_parse(const char *name, vit_cpu *cpu);

/* The processor's own name, such as "AMD EPYC 9B14"; at most size - 1 characters. */
void vit_cpu_brand(char *text, int size);

/* Logical processors this process may use, by its affinity and its control groups; at least 1. */
int vit_cpu_count(void);

/* The processors that the control groups of this process grant, rounded up; 0: any number. `root`
 * comes before the paths /proc/self/cgroup and /sys/fs/cgroup: "" but in tests. */
int vit_cpu_quota(const char *root);

#endif
