/* The most this machine can do: fused multiply-adds on registers. Each accumulator is an operand of
 * a volatile asm statement, so that the compiler keeps every chain. Twelve chains hide a latency of
 * four or five cycles at two multiply-adds a cycle; VDPBF16PS takes longer, and AVX-512 has the
 * registers for twice as many. */
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/cli/parts/program.h"
#include <stdio.h>

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
#define SSE_STEP(x)                                                                 \
    __asm__ volatile("movaps %1, %%xmm15\n\tmulps %1, %%xmm15\n\taddps %%xmm15, %0" \
                     : "+x"(x)                                                      \
                     : "x"(y)                                                       \
                     : "xmm15")
#define SSE_WIDE_STEP(x)                                                              \
    __asm__ volatile("movdqa %1, %%xmm15\n\tpmaddwd %1, %%xmm15\n\tpaddd %%xmm15, %0" \
                     : "+x"(x)                                                        \
                     : "x"(y)                                                         \
                     : "xmm15")
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

/* Words that are floats from .5 to 1 or from -1 to -.5, pairs of such numbers in bfloat16, and
 * quads of bytes, none of them 0: with zeros a processor needs less power, and its clock is higher.
 */
static _Alignas(64) uint32_t numbers[16 * 16];

static void fill_numbers(void) {
    uint32_t bits = 1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bits = bits * 1664525 + 1013904223;
        numbers[i] = 0x3f013f01 | (bits >> 8 & 0x007e007e) | (bits & 0x80000000) | (bits & 0x8000);
    }
}

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

PROBE_512(probe_avx512, "avx512f", __m512, _mm512_load_ps((const float *)(const void *)numbers),
          STEP)
PROBE_512(probe_bf16, "avx512f,avx512bf16", __m512,
          _mm512_load_ps((const float *)(const void *)numbers), PAIR_STEP)
PROBE_256(probe_avx2, "avx2,fma", __m256, _mm256_load_ps((const float *)(const void *)numbers),
          STEP)
PROBE_256(probe_sse41, "sse4.1", __m128, _mm_load_ps((const float *)(const void *)numbers),
          SSE_STEP)

/* Products of 8-bit integers: by VPDPBUSD, or widened to 16 bits. */
PROBE_512(probe_avx512vnni, "avx512f,avx512vnni", __m512i, _mm512_load_si512((const void *)numbers),
          QUAD_STEP)
PROBE_512(probe_wide_avx512, "avx512f,avx512bw", __m512i, _mm512_load_si512((const void *)numbers),
          WIDE_STEP_512)
PROBE_256(probe_avxvnni, "avx2", __m256i, _mm256_load_si256((const __m256i *)(const void *)numbers),
          VEX_QUAD_STEP)
PROBE_256(probe_wide_avx2, "avx2", __m256i,
          _mm256_load_si256((const __m256i *)(const void *)numbers), WIDE_STEP)
PROBE_256(probe_wide_sse41, "sse4.1", __m128i,
          _mm_load_si128((const __m128i *)(const void *)numbers), SSE_WIDE_STEP)

/* Products of tiles, of 16 x 16 x 64 numbers each. A round is two, into sums of their own. */
#define PROBE_AMX(name, step)                                                                 \
    __attribute__((target("amx-tile,amx-int8,amx-bf16"))) static void name(uint64_t rounds) { \
        static const struct {                                                                 \
            uint8_t palette, others[15];                                                      \
            uint16_t colsb[16];                                                               \
            uint8_t rows[16];                                                                 \
        } g = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};   \
        __asm__ volatile("" ::"r"(&g) : "memory");                                            \
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
    case VIT_CPU_SSE41: /* products and sums by two instructions */
        return (measure){probe_sse41, 4, 12};
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
    case VIT_CPU_SSE41:
        return (measure){probe_wide_sse41, 8, 12};
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
        if (cpu < VIT_CPU_AVX512BF16) break; /* the reference in plain C */
        return cpu > VIT_CPU_AVX512BF16 ? (measure){probe_amx_bf16, 2048, 8}
                                        : (measure){probe_bf16, 32, 24};
    case VIT_PRECISION_INT8:
        return measure_of_integers(cpu);
    case VIT_PRECISION_F32:
        return measure_of_floats(cpu);
    case VIT_PRECISION_COUNT:
        break;
    }
    return (measure){probe_scalar, 1, 12};
}
#else
static measure measure_of(vit_cpu cpu, vit_precision precision) {
    (void)cpu, (void)precision;
    return (measure){probe_scalar, 1, 12};
}
#endif

double bench_peak(vit_cpu cpu, vit_precision precision, int threads) {
    measure m = measure_of(cpu, precision);
#if defined(__x86_64__)
    fill_numbers();
#endif
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

static void print_peak(const bench *b) {
    const double peak = bench_peak(b->kernels->cpu, b->precision, b->threads);
    const char *set = vit_cpu_name(b->kernels->cpu), *precision = vit_precision_names[b->precision];
    if (b->json)
        printf("{\"what\": \"peak\", \"cpu\": \"%s\", \"precision\": \"%s\", \"threads\": %d, "
               "\"peak_gflops\": %.3f}\n",
               set, precision, b->threads, peak);
    else
        printf("%-10s %-4s %10.1f GFLOP/s\n", set, precision, peak);
}

vit_status bench_peaks(const bench *b, vit_error *error) {
    vit_cpu highest = VIT_CPU_AMX;
    if (vit_chosen_cpu()) vit_cpu_parse(vit_chosen_cpu(), &highest);
    (void)error;
    for (vit_cpu cpu = highest + 1; cpu-- > VIT_CPU_SCALAR;) {
        bench of = *b;
        of.kernels = vit_kernels_choose(cpu);
        for (int p = 0; of.kernels->cpu == cpu && p < VIT_PRECISION_COUNT; p++) {
            of.precision = (vit_precision)p;
            if (of.kernels->products[p]) print_peak(&of);
        }
    }
    return VIT_OK;
}
