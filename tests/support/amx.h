/* The instructions of AMX that kernels use, for processors without it: included before a kernel's
 * file (-include), in place of the compiler's functions. Tiles are a structure of the thread. What
 * the processor answers with an invalid-opcode fault ends the program here, with a sentence.
 *
 * Measured on a Granite Rapids: the same bits as the instructions in 1.1 million outputs of each of
 * eight classes of numbers (normal ones, any bits, products and sums near FLT_MIN and FLT_MAX, sums
 * that cancel, zeros with infinities and NaN, denormals), except the payloads of NaN. */
#ifndef TESTS_SUPPORT_AMX_H
#define TESTS_SUPPORT_AMX_H

#include "tests/support/avx512.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct amx_config { /* what ldtilecfg reads */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} amx_config;

typedef struct amx_tiles {
    amx_config config; /* palette 0: none is loaded */
    uint32_t tile[8][16][16];
} amx_tiles;

#define AMX static __attribute__((unused)) /* a file of kernels uses some */

static _Thread_local amx_tiles amx;

AMX void amx_require(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "AMX: %s\n", what);
    abort();
}

AMX void amx_release(void) {
    memset(&amx, 0, sizeof amx);
}

AMX void amx_load_config(const void *from) {
    amx_release();
    memcpy(&amx.config, from, sizeof amx.config);
    const amx_config *g = &amx.config;
    amx_require(g->palette == 1 && g->start_row == 0, "the palette is 1, the first row 0");
    for (int t = 0; t < 16; t++) {
        amx_require(g->rows[t] <= 16 && g->row_bytes[t] <= 64, "a tile has 16 rows of 64 bytes");
        amx_require(t < 8 || g->rows[t] == 0, "there are eight tiles");
        amx_require(!g->rows[t] == !g->row_bytes[t], "a tile has both rows and columns");
    }
}

AMX void amx_need(int t) {
    amx_require(amx.config.palette == 1 && amx.config.rows[t] > 0, "the tile is configured");
}

AMX void amx_zero(int t) {
    amx_need(t);
    memset(amx.tile[t], 0, sizeof amx.tile[t]);
}

/* What is outside the configured rows and columns becomes 0. */
AMX void amx_load(int t, const void *from, long stride) {
    amx_zero(t);
    for (long r = 0; r < amx.config.rows[t]; r++)
        memcpy(amx.tile[t][r], (const char *)from + r * stride, amx.config.row_bytes[t]);
}

AMX void amx_store(int t, void *to, long stride) {
    amx_need(t);
    for (long r = 0; r < amx.config.rows[t]; r++)
        memcpy((char *)to + r * stride, amx.tile[t][r], amx.config.row_bytes[t]);
}

/* C [m][n] += A [m][k] B [k][n], in words. */
AMX void amx_check(int c, int a, int b) {
    const amx_config *g = &amx.config;
    amx_need(c), amx_need(a), amx_need(b);
    amx_require(c != a && c != b && a != b, "a product has three different tiles");
    amx_require(g->rows[c] == g->rows[a] && g->row_bytes[c] == g->row_bytes[b] &&
                    g->row_bytes[a] == 4 * g->rows[b],
                "the shapes of a product fit");
}

AMX void amx_dpbssd(int c, int a, int b) {
    amx_check(c, a, b);
    for (int m = 0; m < amx.config.rows[c]; m++)
        for (int k = 0; k < amx.config.rows[b]; k++)
            for (int n = 0; n < 16; n++)
                for (int byte = 0; byte < 32; byte += 8)
                    amx.tile[c][m][n] += (uint32_t)((int8_t)(amx.tile[a][m][k] >> byte) *
                                                    (int8_t)(amx.tile[b][k][n] >> byte));
}

/* Of eight elements: a chain from +0 over the first numbers of pairs, ascending in k, and one over
 * the second ones; their sum is added to them. */
AMX __m256 amx_chains(const uint32_t *a, const uint32_t *b, int steps, __m256 c) {
    __m256 first = _mm256_setzero_ps(), second = first;
    const __m256 one = _mm256_set1_ps(1);
    for (int k = 0; k < steps; k++) {
        const __m256i x = _mm256_set1_epi32((int32_t)a[k]);
        const __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(b + 16 * k));
        first = e512_fused8(e512_numbers8(x, false), e512_numbers8(y, false), first);
        second = e512_fused8(e512_numbers8(x, true), e512_numbers8(y, true), second);
    }
    return e512_fused8(one, e512_normal8(c), e512_fused8(one, first, second));
}

AMX void amx_dpbf16ps(int c, int a, int b) {
    amx_check(c, a, b);
    for (int m = 0; m < amx.config.rows[c]; m++)
        for (int n = 0; 4 * n < amx.config.row_bytes[c]; n += 8) {
            float sums[8];
            memcpy(sums, amx.tile[c][m] + n, sizeof sums);
            const __m256 y = amx_chains(amx.tile[a][m], amx.tile[b][0] + n, amx.config.rows[b],
                                        _mm256_loadu_ps(sums));
            _mm256_storeu_ps(sums, y);
            const int rest = amx.config.row_bytes[c] - 4 * n;
            memcpy(amx.tile[c][m] + n, sums, rest < 32 ? (size_t)rest : 32);
        }
}

#undef _tile_zero
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbf16ps
#define _tile_loadconfig amx_load_config
#define _tile_release amx_release
#define _tile_zero amx_zero
#define _tile_loadd amx_load
#define _tile_stream_loadd amx_load
#define _tile_stored amx_store
#define _tile_dpbssd amx_dpbssd
#define _tile_dpbf16ps amx_dpbf16ps

#define __AMX_TILE__ 1
#define __AMX_INT8__ 1
#define __AMX_BF16__ 1

#endif
