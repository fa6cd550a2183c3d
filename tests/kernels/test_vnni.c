/* Products of 8-bit integers by VPDPBUSD, on a processor that need not have it: the kernels for
 * AVX-VNNI compiled here with the instruction in its definition's steps. Same bytes as scalar C. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/int8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX2__) /* see the Makefile */

#include <immintrin.h>

/* Intel: Software Developer's Manual, "VPDPBUSD": products of bytes without sign by bytes with sign
 * are 16 bits wide; four of them are added to 32 bits, without saturation. */
static inline __m256i dpbusd(__m256i c, __m256i a, __m256i b) {
    uint8_t x[32];
    int8_t y[32];
    uint32_t sums[8];
    _mm256_storeu_si256((__m256i *)(void *)x, a);
    _mm256_storeu_si256((__m256i *)(void *)y, b);
    _mm256_storeu_si256((__m256i *)(void *)sums, c);
    for (int i = 0; i < 32; i++) sums[i / 4] += (uint32_t)(x[i] * y[i]);
    return _mm256_loadu_si256((__m256i *)(void *)sums);
}

#define _mm256_dpbusd_avx_epi32 dpbusd
#define vit_quads_avxvnni quads
#define __AVXVNNI__ 1
#include "vit/kernels/kernels_int8_avxvnni.c"

static void check(size_t rows, size_t in, size_t out, float *room) {
    const vit_kernels *scalar = vit_kernels_scalar();
    vit_kernels table = *vit_kernels_avx2();
    table.products[VIT_PRECISION_INT8] = &quads;
    vit_random r = check_random((uint32_t)(rows + in + out));
    float *w = check_floats(in * out), *x = check_floats(rows * in);
    float *want = check_floats(rows * out), *got = check_floats(rows * out);
    float *packed = check_floats(vit_int8_words(out, in));
    check_fill(w, in * out, 1, &r);
    check_fill(x, rows * in, 1, &r);
    for (size_t i = 0; i < in; i++) w[i] = -1;
    vit_int8_pack(packed, w, NULL, out, in);
    const vit_linear layer = {.in = in,
                              .out = out,
                              .packed = packed,
                              .scales = vit_int8_scales(packed, out, in),
                              .starts = vit_int8_starts(packed, out, in)};
    vit_linear_forward(&(vit_exec){.kernels = scalar, .threads = 1, .room = room}, want, x, &layer,
                       NULL, rows);
    vit_linear_forward(&(vit_exec){.kernels = &table, .threads = 1, .room = room}, got, x, &layer,
                       NULL, rows);
    assert_memory_equal(got, want, rows * out * sizeof *got);
    float *const all[] = {w, x, want, got, packed};
    for (size_t j = 0; j < 5; j++) free(all[j]);
}

static void test_emulated(void **state) {
    static const size_t shapes[][3] = {{1, 1, 1}, {7, 33, 40}, {13, 64, 96}, {8, 1500, 33}};
    if (vit_cpu_detect() < VIT_CPU_AVX2) skip();
    float *room = check_floats(VIT_GEMM_ROOM);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(shapes[i][0], shapes[i][1], shapes[i][2], room);
    free(room);
}

#else

static void test_emulated(void **state) {
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_emulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
