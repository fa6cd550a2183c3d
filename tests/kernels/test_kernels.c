/* Every kernel of every table this processor runs against scalar C, bit by bit, over odd sizes,
 * unaligned, with guards around and between the rows, over ordinary and extreme inputs.
 *
 *     build/tests/kernels/test_kernels --bench
 *
 * measures them instead. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/kernels/kernels.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_OPERANDS 8
#define MOST_FLOATS 8192

/* ---- what a kernel takes ---- */

enum {
    ACCUMULATE = 1,
    SCALE = 2,
    BIAS = 4,
    RESIDUAL = 8,
    IN_PLACE = 16,
    TRANSPOSED = 32,
    GAMMA = 64,
    KEEP = 128,
    ACROSS = 256,
    OPTIONS = 512
};

typedef struct shape {
    size_t rows, n, k, gap; /* gap: floats between rows */
    unsigned options;       /* gemm_tiles */
    bool pairs;             /* k counts pairs, of kernels that have them */
} shape;

typedef struct kernel {
    const char *name;
    const char *operands; /* one letter each, see extent_of */
    void (*call)(const vit_kernels *k, float *const *p, const shape *s);
} kernel;

typedef struct extent {
    size_t rows, n, row;
} extent;

static extent extent_of(char operand, const shape *s) {
    const bool transposed = s->options & TRANSPOSED;
    switch (operand) {
    case 'M': /* matrix [rows][n] with gaps */
        return (extent){s->rows, s->n, s->n + s->gap};
    case 'S': /* rows of whole vectors */
        return (extent){s->rows, vit_padded(s->n), vit_padded(s->n)};
    case 'T': /* [n], rows of whole vectors */
        return (extent){s->n, vit_padded(s->rows), vit_padded(s->rows)};
    case 'A': /* [rows][k], or [k][rows] */
        return transposed ? (extent){s->k, s->rows, s->rows + s->gap}
                          : (extent){s->rows, s->k, s->k + s->gap};
    case 'B': /* [k][n] */
        return (extent){s->k, s->n, s->n + s->gap};
    case 'R': /* one a row */
        return (extent){1, s->rows, s->rows};
    case 'C': /* one a column */
        return (extent){1, s->n, s->n};
    case '1': /* one */
        return (extent){1, 1, 1};
    default: /* 'N', 'P' (not negative), 'E' (at most 88): [rows][n] without gaps */
        return (extent){1, s->rows * s->n, s->rows * s->n};
    }
}

static size_t floats_of(extent e) {
    return e.rows > 0 ? (e.rows - 1) * e.row + e.n : 0;
}

/* ---- inputs ---- */

typedef enum contents { ORDINARY, LARGE, EXTREME, NOT_FINITE, CONTENTS } contents;

static float value(contents what, vit_random *r) {
    static const float extremes[] = {0,        -0.0f,    FLT_TRUE_MIN, -FLT_TRUE_MIN, 1e-40f,
                                     FLT_MIN,  -FLT_MIN, FLT_MAX,      -FLT_MAX,      1e19f,
                                     -1e19f,   1e-19f,   87.34f,       -87.34f,       1,
                                     -14.001f, 16777216, 1e30f,        -1e30f,        2.5f};
    static const float not_finite[] = {NAN, INFINITY, -INFINITY};
    const float x = (float)(4 * vit_random_uniform(r) - 2);
    const uint32_t pick = vit_random_below(r, 60);
    if (what == LARGE) return x * 50;
    if (what == EXTREME) return extremes[pick % 20];
    if (what == NOT_FINITE && pick < 3) return not_finite[pick];
    return x;
}

static void fill(float *p, char operand, extent e, contents what, vit_random *r) {
    for (size_t i = 0; i < e.rows; i++) {
        for (size_t j = 0; j < e.n; j++) {
            const float x = value(what, r);
            p[i * e.row + j] = operand == 'P' ? fabsf(x) : operand == 'E' && x > 88 ? 88 : x;
        }
    }
}

/* ---- the kernels ---- */

static const vit_product_kernels *product(const vit_kernels *k, const shape *s) {
    return k->products[s->pairs ? VIT_PRECISION_BF16 : VIT_PRECISION_F32];
}

static vit_epilogue epilogue_at(float *const *p, const shape *s, size_t i, size_t j) {
    const size_t row = s->n + s->gap;
    const float *residual = s->options & IN_PLACE ? p[0] : p[4];
    return (vit_epilogue){.accumulate = (s->options & ACCUMULATE) != 0,
                          .scale = s->options & SCALE ? .3f : 1,
                          .bias = s->options & BIAS ? p[3] + j : NULL,
                          .gamma = s->options & GAMMA ? p[5] + j : NULL,
                          .keep = s->options & KEEP ? p[6] : NULL,
                          .keep_rows = 3,
                          .row = i,
                          .residual =
                              s->options & (RESIDUAL | IN_PLACE) ? residual + i * row + j : NULL,
                          .residual_row = row};
}

/* As many tiles at a time as there are of a size, one below the other or side by side. */
static void gemm_tiles(const vit_kernels *k, float *const *p, const shape *s) {
    const size_t row = s->n + s->gap;
    const bool transposed = s->options & TRANSPOSED, across = s->options & ACROSS;
    const size_t a_row = transposed ? 1 : s->k + s->gap, a_col = transposed ? s->rows + s->gap : 1;
    for (size_t i = 0, below; i < s->rows; i += below) {
        const size_t m = vit_min(s->rows - i, k->tile.rows), high = across ? 1 : (s->rows - i) / m;
        below = high * m;
        for (size_t j = 0, beside; j < s->n; j += beside) {
            const size_t n = vit_min(s->n - j, k->tile.cols), wide = across ? (s->n - j) / n : 1;
            beside = wide * n;
            const vit_tiles tiles = {.count = high * wide,
                                     .rows = m,
                                     .columns = n,
                                     .k = s->k,
                                     .c = p[0] + i * row + j,
                                     .a = p[1] + i * a_row,
                                     .b = p[2] + j,
                                     .c_row = row,
                                     .a_row = a_row,
                                     .a_col = a_col,
                                     .b_row = row,
                                     .down = across ? 0 : m,
                                     .right = across ? n : 0,
                                     .a_step = across ? 0 : m * a_row,
                                     .b_step = across ? n : 0,
                                     .epilogue = epilogue_at(p, s, i, j),
                                     .ahead = {{p[0] + i * row + j, row, m, 0, 1},
                                               {p[2] + j, row, s->k, 0, high * wide}}};
            product(k, s)->gemm_tiles(&tiles);
        }
    }
}

static void copy_rows(const vit_kernels *k, float *const *p, const shape *s) {
    product(k, s)->copy_across(p[0], vit_padded(s->n), p[1], s->n + s->gap, s->rows, s->n);
}

static void transpose(const vit_kernels *k, float *const *p, const shape *s) {
    product(k, s)->transpose(p[0], vit_padded(s->rows), p[1], s->n + s->gap, s->rows, s->n);
}

static void softmax(const vit_kernels *k, float *const *p, const shape *s) {
    k->softmax(p[0], s->rows, s->n);
}

static void softmax_backward(const vit_kernels *k, float *const *p, const shape *s) {
    k->softmax_backward(p[0], p[1], .7f, s->rows, s->n);
}

static void layernorm(const vit_kernels *k, float *const *p, const shape *s) {
    k->layernorm(p[0], p[1], p[2], p[3], p[4], p[5], 1e-6f, s->rows, s->n);
}

static void layernorm_recompute(const vit_kernels *k, float *const *p, const shape *s) {
    k->layernorm_recompute(p[0], p[1], p[2], p[3], p[4], p[5], s->rows, s->n);
}

static void layernorm_backward(const vit_kernels *k, float *const *p, const shape *s) {
    k->layernorm_backward(p[0], p[1], p[2], p[3], p[4], p[5], s->rows, s->n);
}

static void layernorm_sums(const vit_kernels *k, float *const *p, const shape *s) {
    k->layernorm_sums(p[0], p[1], p[2], p[3], p[4], p[5], s->rows, s->n, s->n + s->gap);
}

static void gelu(const vit_kernels *k, float *const *p, const shape *s) {
    k->gelu(p[0], p[1], s->rows * s->n);
}

static void gelu_in_place(const vit_kernels *k, float *const *p, const shape *s) {
    k->gelu(p[0], p[0], s->rows * s->n);
}

static void gelu_backward(const vit_kernels *k, float *const *p, const shape *s) {
    k->gelu_backward(p[0], p[1], p[2], p[3], s->rows * s->n);
}

static void gelu_backward_in_place(const vit_kernels *k, float *const *p, const shape *s) {
    k->gelu_backward(p[0], NULL, p[0], p[1], s->rows * s->n);
}

static void relu(const vit_kernels *k, float *const *p, const shape *s) {
    k->relu(p[0], p[1], s->rows * s->n);
}

static void relu_backward(const vit_kernels *k, float *const *p, const shape *s) {
    k->relu_backward(p[0], p[1], p[2], p[3], s->rows * s->n);
}

static void swish(const vit_kernels *k, float *const *p, const shape *s) {
    k->swish(p[0], p[1], 1.6f, .07f, s->rows * s->n);
}

static void swish_backward(const vit_kernels *k, float *const *p, const shape *s) {
    k->swish_backward(p[0], p[1], p[2], p[3], 1.7f, 0, s->rows * s->n);
}

static void multiply(const vit_kernels *k, float *const *p, const shape *s) {
    k->multiply(p[0], p[1], p[2], s->rows * s->n);
}

static void multiply_in_place(const vit_kernels *k, float *const *p, const shape *s) {
    k->multiply(p[0], p[0], p[1], s->rows * s->n);
}

static void multiply_add(const vit_kernels *k, float *const *p, const shape *s) {
    k->multiply_add(p[0], p[1], p[2], s->rows * s->n);
}

static void add(const vit_kernels *k, float *const *p, const shape *s) {
    k->add(p[0], p[1], s->rows * s->n);
}

static void scale(const vit_kernels *k, float *const *p, const shape *s) {
    k->scale(p[0], p[1], .7f, s->rows * s->n);
}

static void average(const vit_kernels *k, float *const *p, const shape *s) {
    k->average(p[0], p[1], .3f, s->rows * s->n);
}

static void column_sums(const vit_kernels *k, float *const *p, const shape *s) {
    k->column_sums(p[0], p[1], s->rows, s->n, s->n + s->gap);
}

static void square_sum(const vit_kernels *k, float *const *p, const shape *s) {
    p[0][0] = k->square_sum(p[1], s->rows * s->n);
}

static void adamw(const vit_kernels *k, float *const *p, const shape *s) {
    const vit_adamw_scalars scalars = {.clip = .8f,
                                       .decay = .9999f,
                                       .beta1 = .9f,
                                       .beta2 = .999f,
                                       .rest1 = .1f,
                                       .rest2 = .001f,
                                       .root = 31.6f,
                                       .step_size = .01f,
                                       .eps = 1e-8f};
    k->adamw(p[0], p[1], p[2], p[3], &scalars, s->rows * s->n);
}

static void round_bf16(const vit_kernels *k, float *const *p, const shape *s) {
    k->round_bf16(p[0], s->rows * s->n);
}

static void exponential(const vit_kernels *k, float *const *p, const shape *s) {
    k->exp(p[0], p[1], s->rows * s->n);
}

static const kernel kernel_gemm_tiles = {"gemm_tiles", "MABCMCR", gemm_tiles};
static kernel row_kernels[] = {
    {"copy_rows", "SM", copy_rows},
    {"transpose", "TM", transpose},
    {"softmax", "S", softmax},
    {"softmax_backward", "SS", softmax_backward},
    {"layernorm", "NRRNCC", layernorm},
    {"layernorm_recompute", "NNRRCC", layernorm_recompute},
    {"layernorm_backward", "NNNRRC", layernorm_backward},
    {"layernorm_sums", "CCMMRR", layernorm_sums},
    {"gelu", "NN", gelu},
    {"gelu in place", "N", gelu_in_place},
    {"gelu_backward", "NNNN", gelu_backward},
    {"gelu_backward in place", "NN", gelu_backward_in_place},
    {"relu", "NN", relu},
    {"relu_backward", "NNNN", relu_backward},
    {"swish", "NN", swish},
    {"swish_backward", "NNNN", swish_backward},
    {"multiply", "NNN", multiply},
    {"multiply in place", "NN", multiply_in_place},
    {"multiply_add", "NNN", multiply_add},
    {"add", "NN", add},
    {"scale", "NN", scale},
    {"average", "NN", average},
    {"column_sums", "CM", column_sums},
    {"square_sum", "1N", square_sum},
    {"adamw", "NNPN", adamw},
    {"round_bf16", "N", round_bf16},
    {"exp", "NE", exponential},
};
#define ROW_KERNELS (sizeof row_kernels / sizeof *row_kernels)

/* ---- one comparison ---- */

static check_memory memory[2][MOST_OPERANDS];
static char running[200]; /* what a test that dies was doing */

static int take_memory(void **state) {
    for (size_t i = 0; i < MOST_OPERANDS; i++)
        for (int side = 0; side < 2; side++) memory[side][i] = check_memory_new(MOST_FLOATS);
    return 0;
}

static int give_memory(void **state) {
    for (size_t i = 0; i < MOST_OPERANDS; i++)
        for (int side = 0; side < 2; side++) check_memory_free(&memory[side][i]);
    return 0;
}

static int finished(void **state) {
    if (running[0]) print_error("while running %s\n", running);
    running[0] = '\0';
    return 0;
}

static void compare(size_t operand, extent e) {
    const float *want = memory[0][operand].data, *got = memory[1][operand].data;
    for (size_t at = 0; at < floats_of(e); at++) {
        if (at % e.row >= e.n) {
            if (!check_is_pattern(want[at]) || !check_is_pattern(got[at]))
                fail_msg("%s: wrote between the rows of operand %zu", running, operand);
        } else if (!check_same(want[at], got[at])) {
            fail_msg("%s: operand %zu [%zu][%zu] is %a, scalar %a", running, operand, at / e.row,
                     at % e.row, (double)got[at], (double)want[at]);
        }
    }
    for (int side = 0; side < 2; side++)
        if (!check_memory_intact(&memory[side][operand]))
            fail_msg("%s: wrote before or behind operand %zu", running, operand);
}

/* p: the kernel's operands. */
static void prepare(float *p[MOST_OPERANDS], const kernel *f, const shape *s, contents what,
                    check_place place) {
    vit_random r = check_random((uint32_t)(s->rows * 7919 + s->n * 31 + s->k));
    for (size_t i = 0; f->operands[i]; i++) {
        const extent e = extent_of(f->operands[i], s);
        p[i] = check_memory_take(&memory[0][i], floats_of(e), place);
        fill(p[i], f->operands[i], e, what, &r);
    }
}

static void run(const kernel *f, const vit_kernels *k, const shape *s, contents what,
                check_place place) {
    float *p[2][MOST_OPERANDS];
    snprintf(running, sizeof running, "%s %s rows %zu n %zu k %zu gap %zu options %u %d %d",
             vit_cpu_name(k->cpu), f->name, s->rows, s->n, s->k, s->gap, s->options, what, place);
    prepare(p[0], f, s, what, place);
    for (size_t i = 0; f->operands[i]; i++) {
        const size_t floats = floats_of(extent_of(f->operands[i], s));
        p[1][i] = check_memory_take(&memory[1][i], floats, place);
        memcpy(p[1][i], p[0][i], floats * sizeof(float));
    }
    f->call(vit_kernels_scalar(), p[0], s);
    f->call(k, p[1], s);
    for (size_t i = 0; f->operands[i]; i++) compare(i, extent_of(f->operands[i], s));
    running[0] = '\0';
}

/* ---- tests ---- */

static const size_t sizes[] = {1,  2,  3,  5,  7,  8,  15, 16,  17,  31,
                               32, 33, 47, 48, 49, 64, 65, 100, 129, 300};
#define SIZES (sizeof sizes / sizeof *sizes)

static void over_gaps_and_inputs(const kernel *f, const vit_kernels *k, size_t rows, size_t n) {
    static const size_t gaps[] = {0, 1, 5};
    for (size_t i = 0; i < 3; i++) {
        const shape s = {.rows = rows, .n = n, .gap = gaps[i]};
        for (contents what = 0; what < CONTENTS; what++)
            for (check_place place = 0; place < CHECK_PLACES; place++) run(f, k, &s, what, place);
    }
}

static void test_rows(void **state) {
    const kernel *f = *state;
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < SIZES; i++)
            for (size_t rows = 1; rows <= 4; rows++) over_gaps_and_inputs(f, k[t], rows, sizes[i]);
}

static void test_whole_chunk(void **state) {
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    for (size_t i = 0; i < ROW_KERNELS; i++) {
        if (row_kernels[i].call != square_sum) continue;
        for (size_t t = 0; t < count; t++)
            over_gaps_and_inputs(&row_kernels[i], k[t], 1, VIT_CHUNK);
    }
}

/* All heights and widths of the largest tile, all depths, epilogues in turn. */
static void test_tile_sizes(void **state) {
    static const size_t depths[] = {0, 1, 2, 7, 33};
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    unsigned turn = 0;
    for (size_t rows = 1; rows <= 12; rows++) {
        for (size_t n = 1; n <= 32; n++) {
            for (size_t d = 0; d < 5; d++, turn++) {
                const shape s = {rows, n, depths[d], turn % 3, turn * 29 % OPTIONS, false};
                for (size_t t = 0; t < count; t++)
                    run(&kernel_gemm_tiles, k[t], &s, turn % CONTENTS, turn % CHECK_PLACES);
            }
        }
    }
}

/* Every combination of epilogues, at every height, with whole and ragged vectors. */
static void test_tile_epilogues(void **state) {
    static const size_t widths[] = {1, 15, 16, 17, 31, 32};
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    for (size_t rows = 1; rows <= 12; rows++) {
        for (size_t w = 0; w < 6; w++) {
            for (unsigned options = 0; options < OPTIONS; options++) {
                const shape s = {rows, widths[w], 7, 2, options, false};
                for (size_t t = 0; t < count; t++)
                    run(&kernel_gemm_tiles, k[t], &s, ORDINARY, options % CHECK_PLACES);
            }
        }
    }
}

/* Runs of several of the largest tiles, and what is left of rows and columns. */
static void test_tile_runs(void **state) {
    static const size_t several[][2] = {{36, 32}, {12, 96}, {41, 37}, {25, 101}};
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    for (size_t i = 0; i < 4; i++) {
        for (unsigned options = 0; options < OPTIONS; options++) {
            const shape s = {several[i][0], several[i][1], 9 + options % 2 * 8, 2, options, false};
            for (size_t t = 0; t < count; t++)
                run(&kernel_gemm_tiles, k[t], &s, ORDINARY, options % CHECK_PLACES);
        }
    }
}

static void test_square_sum_rule(void **state) {
    float x[300];
    vit_random r = check_random(1);
    check_fill(x, 300, 2, &r);
    for (size_t i = 0; i < SIZES; i++) {
        float lane[16] = {0};
        for (size_t j = 0; j < sizes[i]; j++) lane[j % 16] = fmaf(x[j], x[j], lane[j % 16]);
        for (int half = 8; half > 0; half /= 2)
            for (int j = 0; j < half; j++) lane[j] += lane[j + half];
        assert_true(check_same(vit_kernels_scalar()->square_sum(x, sizes[i]), lane[0]));
    }
}

static void test_choose(void **state) {
    for (vit_cpu highest = VIT_CPU_SCALAR; highest <= VIT_CPU_AVX512; highest++) {
        const vit_kernels *k = vit_kernels_choose(highest);
        assert_non_null(k);
        assert_true(k->cpu <= highest && k->cpu <= vit_cpu_detect());
        assert_true(k->tile.rows > 0 && k->tile.cols > 0 && vit_panel() % k->tile.cols == 0);
        assert_true(k->tile.depth > 0 && k->tile.depth % 16 == 0);
    }
    assert_ptr_equal(vit_kernels_choose(VIT_CPU_SCALAR), vit_kernels_scalar());
}

/* A constant row's h is 0 however large the row and small its variance are: lanes behind the row
 * have no part in it. */
static void test_absent_lanes(void **state) {
    const float x[3] = {1e38f, 1e38f, 1e38f}, dy[3] = {1, 2, -3}, gamma[3] = {1, 1, 1};
    const float beta[3] = {0};
    float y[3], mean, rstd, dx[3] = {0}, dgamma[3] = {0}, dbeta[3] = {0};
    const vit_kernels *k = vit_kernels_scalar();
    k->layernorm(y, &mean, &rstd, x, gamma, beta, 1e-6f, 1, 3);
    mean = x[0]; /* free of its rounding */
    rstd = 1e3f;
    k->layernorm_backward(dx, dy, x, &mean, &rstd, gamma, 1, 3);
    k->layernorm_sums(dgamma, dbeta, dy, x, &mean, &rstd, 1, 3, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(fabsf(dgamma[i]) <= 0);
        assert_true(fabsf(dx[i] - dy[i] * rstd) <= 1e-3f);
    }
}

/* A row whose variance is too large for a float has no norm; those beside it have. */
static void test_infinite_variance(void **state) {
    const float gamma[3] = {1, 1, 1}, beta[3] = {0};
    const vit_kernels *k[CHECK_MOST_TABLES];
    for (size_t t = 0, count = check_tables(k); t < count; t++) {
        float x[15], y[15], mean[5], rstd[5];
        for (size_t i = 0; i < 15; i++) x[i] = (float)(i % 4);
        x[4] = 1e30f;
        k[t]->layernorm(y, mean, rstd, x, gamma, beta, 1e-6f, 5, 3);
        for (size_t i = 0; i < 15; i++) assert_true(isnan(y[i]) == (i / 3 == 1));
        x[13] = -1e30f;
        k[t]->layernorm(y, mean, rstd, x, gamma, beta, 1e-6f, 5, 3);
        assert_true(isnan(y[12]) && isnan(rstd[4]) && !isnan(rstd[3]));
    }
}

/* ---- how fast ---- */

#define REPETITIONS 400

/* Nanoseconds of the fastest call, on new operands each time: what a kernel does to them in place,
 * often, would end in denormals or infinities. */
static double fastest(const kernel *f, const vit_kernels *k, const shape *s) {
    float *p[MOST_OPERANDS];
    double best = INFINITY;
    for (int i = 0; i < REPETITIONS; i++) {
        prepare(p, f, s, ORDINARY, CHECK_AT_START);
        const double start = vit_clock();
        f->call(k, p, s);
        best = fmin(best, vit_clock() - start);
    }
    return best * 1e9;
}

static bool is_of_products(const kernel *f) {
    return f->call == gemm_tiles || f->call == copy_rows || f->call == transpose;
}

/* Of pairs, too, where there are any: of twice as many numbers in a tile. */
static void bench_kernel(const kernel *f, const shape *s) {
    const vit_kernels *k[CHECK_MOST_TABLES], *best = vit_kernels_choose(VIT_CPU_AVX512BF16);
    const size_t count = check_tables(k);
    double scalar = 0;
    printf("%-24s %4zu x %4zu", f->name, s->rows, s->n);
    printf(s->k > 0 ? " x %4zu" : "       ", s->k);
    for (size_t t = 0; t < count; t++) {
        const double ns = fastest(f, k[t], s);
        scalar = t == 0 ? ns : scalar;
        printf("  %10.0f %7.1f x", ns, scalar / ns);
    }
    if (best->products[VIT_PRECISION_BF16] && is_of_products(f)) {
        shape of_pairs = *s;
        of_pairs.pairs = true;
        printf("  %10.0f as pairs", fastest(f, best, &of_pairs));
    }
    printf("\n");
}

static int bench(void) {
    const shape rows = {.rows = 16, .n = 192}, tile = {.rows = 24, .n = 32, .k = 192};
    const vit_kernels *k[CHECK_MOST_TABLES];
    const size_t count = check_tables(k);
    printf("%-24s %18s", "fastest call, ns", "");
    for (size_t t = 0; t < count; t++) printf("  %20s", vit_cpu_name(k[t]->cpu));
    printf("\n");
    take_memory(NULL);
    bench_kernel(&kernel_gemm_tiles, &tile);
    for (size_t i = 0; i < ROW_KERNELS; i++) bench_kernel(&row_kernels[i], &rows);
    give_memory(NULL);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--bench") == 0) return bench();
    struct CMUnitTest tests[ROW_KERNELS + 8] = {
        cmocka_unit_test_teardown(test_tile_sizes, finished),
        cmocka_unit_test_teardown(test_tile_epilogues, finished),
        cmocka_unit_test_teardown(test_tile_runs, finished),
        cmocka_unit_test_teardown(test_whole_chunk, finished),
        cmocka_unit_test(test_square_sum_rule),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_absent_lanes),
        cmocka_unit_test(test_infinite_variance),
    };
    for (size_t i = 0; i < ROW_KERNELS; i++) {
        kernel *f = &row_kernels[i];
        tests[i + 8] = (struct CMUnitTest){f->name, test_rows, NULL, finished, f};
    }
    return cmocka_run_group_tests(tests, take_memory, give_memory);
}
