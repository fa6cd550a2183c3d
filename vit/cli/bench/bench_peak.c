/* The most this machine can do: fused multiply-adds on registers. Each accumulator is an operand of
 * a volatile asm statement, so that the compiler keeps every chain. Twelve chains hide a latency of
 * four or five cycles at two multiply-adds a cycle; VDPBF16PS takes longer, and AVX-512 has the
 * registers for twice as many. */
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"

#define ROUNDS ((uint64_t)1 << 21)
#define SECONDS 0.25 /* of attempts: a second thread may need a while to get a core of its own */

typedef void probe(uint64_t rounds);

#if defined(__x86_64__)
#include <immintrin.h>

#define SET(x) x = y
#define STEP(x) __asm__ volatile("vfmadd231ps %1, %1, %0" : "+v"(x) : "v"(y))
#define PAIR_STEP(x) __asm__ volatile("vdpbf16ps %1, %1, %0" : "+v"(x) : "v"(y))
#define QUAD_STEP(x) __asm__ volatile("vpdpbusd %1, %1, %0" : "+v"(x) : "v"(y))
#define VEX_QUAD_STEP(x) __asm__ volatile("%{vex%} vpdpbusd %1, %1, %0" : "+x"(x) : "x"(y))
#define WIDE_STEP(x)                                                      \
    __asm__ volatile("vpmaddwd %1, %1, %%ymm15\n\tvpaddd %%ymm15, %0, %0" \
                     : "+x"(x)                                            \
                     : "x"(y)                                             \
                     : "xmm15")
#define WIDE_STEP_512(x)                                                  \
    __asm__ volatile("vpmaddwd %1, %1, %%zmm31\n\tvpaddd %%zmm31, %0, %0" \
                     : "+v"(x)                                            \
                     : "v"(y)                                             \
                     : "xmm31")
#define TWELVE(step, x) \
    do {                \
        step(x[0]);     \
        step(x[1]);     \
        step(x[2]);     \
        step(x[3]);     \
        step(x[4]);     \
        step(x[5]);     \
        step(x[6]);     \
        step(x[7]);     \
        step(x[8]);     \
        step(x[9]);     \
        step(x[10]);    \
        step(x[11]);    \
    } while (0)

/* A probe: 24 chains where there are 32 registers of 512 bits, 12 where there are 16 of 256. */
#define PROBE_512(name, instructions, type, start, step)                      \
    __attribute__((target(instructions))) static void name(uint64_t rounds) { \
        const type y = start;                                                 \
        type a[12], b[12];                                                    \
        TWELVE(SET, a);                                                       \
        TWELVE(SET, b);                                                       \
        for (uint64_t n = 0; n < rounds; n++) {                               \
            TWELVE(step, a);                                                  \
            TWELVE(step, b);                                                  \
        }                                                                     \
    }
#define PROBE_256(name, instructions, type, start, step)                      \
    __attribute__((target(instructions))) static void name(uint64_t rounds) { \
        const type y = start;                                                 \
        type a[12];                                                           \
        TWELVE(SET, a);                                                       \
        for (uint64_t n = 0; n < rounds; n++) TWELVE(step, a);                \
    }

PROBE_512(probe_avx512, "avx512f", __m512, _mm512_set1_ps(.5f), STEP)
PROBE_512(probe_bf16, "avx512f,avx512bf16", __m512, _mm512_set1_ps(.5f), PAIR_STEP)
PROBE_256(probe_avx2, "avx2,fma", __m256, _mm256_set1_ps(.5f), STEP)

/* Products of 8-bit integers: by VPDPBUSD, or widened to 16 bits. */
PROBE_512(probe_avx512vnni, "avx512f,avx512vnni", __m512i, _mm512_set1_epi32(1), QUAD_STEP)
PROBE_512(probe_wide_avx512, "avx512f,avx512bw", __m512i, _mm512_set1_epi32(1), WIDE_STEP_512)
PROBE_256(probe_avxvnni, "avx2", __m256i, _mm256_set1_epi32(1), VEX_QUAD_STEP)
PROBE_256(probe_wide_avx2, "avx2", __m256i, _mm256_set1_epi32(1), WIDE_STEP)

/* Products of tiles, of 16 x 16 x 64 numbers each, none of them 0: with zeros the clock is higher.
 * A round is two products, into sums of their own. As pairs of bfloat16 the numbers are from .5 to
 * 2. */
#define PROBE_AMX(name, step)                                                                 \
    __attribute__((target("amx-tile,amx-int8,amx-bf16"))) static void name(uint64_t rounds) { \
        static const struct {                                                                 \
            uint8_t palette, others[15];                                                      \
            uint16_t colsb[16];                                                               \
            uint8_t rows[16];                                                                 \
        } g = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};   \
        uint16_t numbers[16 * 32];                                                            \
        for (uint32_t i = 0; i < 16 * 32; i++)                                                \
            numbers[i] = (uint16_t)(0x3f00 + (i * 2654435761u >> 24));                        \
        __asm__ volatile("" ::"r"(&g), "r"(numbers) : "memory");                              \
        _tile_loadconfig(&g);                                                                 \
        _tile_loadd(4, numbers, 64);                                                          \
        _tile_loadd(6, numbers, 64);                                                          \
        _tile_loadd(7, numbers, 64);                                                          \
        for (uint64_t n = 0; n < rounds; n += 1) {                                            \
            step(0, 4, 6);                                                                    \
            step(1, 4, 7);                                                                    \
        }                                                                                     \
        _tile_release();                                                                      \
    }
PROBE_AMX(probe_amx_int8, _tile_dpbssd)
PROBE_AMX(probe_amx_bf16, _tile_dpbf16ps)
#endif

static void probe_scalar(uint64_t rounds) {
    float chains[12] = {0};
    for (uint64_t n = 0; n < rounds; n++) {
        for (int i = 0; i < 12; i++) {
            chains[i] = chains[i] * .5f + .5f;
#if defined(__GNUC__)
            __asm__ volatile("" : "+m"(chains[i]));
#endif
        }
    }
}

static void probe_task(size_t index, int thread, void *context) {
    (void)index, (void)thread;
    probe *const *run = context;
    (*run)(ROUNDS);
}

/* A probe, and what a round of it computes. */
typedef struct measure {
    probe *run;
    double lanes, chains;
} measure;

#if defined(__x86_64__)
static measure measure_of_floats(vit_cpu cpu) {
    switch (cpu) {
    case VIT_CPU_AVX2:
        return (measure){probe_avx2, 8, 12};
    case VIT_CPU_AVX512:
    case VIT_CPU_AVX512BF16:
    case VIT_CPU_AMX:
        return (measure){probe_avx512, 16, 24};
    case VIT_CPU_SCALAR:
    case VIT_CPU_NEON:
    case VIT_CPU_SIMD128:
    case VIT_CPU_COUNT:
        break;
    }
    return (measure){probe_scalar, 1, 12};
}

static measure measure_of_integers(vit_cpu cpu) {
    const bool vnni = vit_cpu_has_vnni(cpu);
    switch (cpu) {
    case VIT_CPU_AVX2:
        return vnni ? (measure){probe_avxvnni, 32, 12} : (measure){probe_wide_avx2, 16, 12};
    case VIT_CPU_AMX:
        return (measure){probe_amx_int8, 4096, 8};
    case VIT_CPU_AVX512:
    case VIT_CPU_AVX512BF16:
        return vnni ? (measure){probe_avx512vnni, 64, 24} : (measure){probe_wide_avx512, 32, 24};
    case VIT_CPU_SCALAR:
    case VIT_CPU_NEON:
    case VIT_CPU_SIMD128:
    case VIT_CPU_COUNT:
        break;
    }
    return (measure){probe_scalar, 1, 12};
}

static measure measure_of(vit_cpu cpu, vit_precision precision) {
    switch (precision) {
    case VIT_PRECISION_BF16:
        return cpu > VIT_CPU_AVX512BF16 ? (measure){probe_amx_bf16, 2048, 8}
                                        : (measure){probe_bf16, 32, 24};
    case VIT_PRECISION_INT8:
        return measure_of_integers(cpu);
    case VIT_PRECISION_F32:
    case VIT_PRECISION_COUNT:
        break;
    }
    return measure_of_floats(cpu);
}
#else
static measure measure_of(vit_cpu cpu, vit_precision precision) {
    (void)cpu, (void)precision;
    return (measure){probe_scalar, 1, 12};
}
#endif

double bench_peak(vit_cpu cpu, vit_precision precision, int threads) {
    measure m = measure_of(cpu, precision);
    double best = 0;
    const double flop = 2 * m.lanes * m.chains * (double)ROUNDS * threads,
                 end = vit_clock() + SECONDS;
    do {
        const double start = vit_clock();
        vit_parallel(threads, (size_t)threads, probe_task, &m.run);
        const double seconds = vit_clock() - start;
        best = flop / seconds > best ? flop / seconds : best;
    } while (vit_clock() < end);
    return best / 1e9;
}
