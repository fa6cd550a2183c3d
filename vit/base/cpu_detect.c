/* Which instruction sets there are: on x86 by CPUID and XGETBV. */
#include "vit/base/cpu.h"

#ifdef __linux__
#include <sys/auxv.h>
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

bool vit_cpu_has_sha(void) {
    const uint32_t sha = 1u << 29;
    uint32_t a, b, c, d;
    return vit_cpu_detect() >= VIT_CPU_SSE41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           has(b, sha);
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

bool vit_cpu_has_sha(void) {
    return false;
}

#endif
