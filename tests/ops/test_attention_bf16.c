/* Attention in bfloat16 against a scalar emulation, bit by bit, forward and backward: heads of odd
 * width, heads that go together, blocks of queries, threads, weights kept or made again. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/attention.h"
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 7.0f /* what lies between the rows */

/* q, k, v, o and their gradients, with gaps between their rows. */
enum { Q, K, V, O, DQ, DK, DV, DO, ARRAYS };

typedef struct attention {
    vit_attention_shape s;
    size_t sizes[ARRAYS], weights;
    float *arrays[ARRAYS], *p, *scratch;
} attention;

static attention attention_new(vit_attention_shape s) {
    attention a = {.s = s, .weights = s.batch * s.heads * s.queries * vit_padded(s.keys)};
    vit_random r = check_random((uint32_t)(s.queries * 100 + s.keys));
    const size_t queries = s.batch * s.queries, keys = s.batch * (s.skip + s.keys);
    const size_t sizes[] = {queries * s.q_row, keys * s.k_row, keys * s.v_row, queries * s.o_row};
    for (size_t i = 0; i < ARRAYS; i++) {
        a.sizes[i] = sizes[i % 4];
        a.arrays[i] = check_floats(a.sizes[i]);
        if (i < O || i == DO)
            check_fill(a.arrays[i], a.sizes[i], 2, &r);
        else
            for (size_t j = 0; j < a.sizes[i]; j++) a.arrays[i][j] = UNTOUCHED;
    }
    a.p = check_floats(a.weights);
    a.scratch = check_floats(8 * vit_attention_scratch(&s, true));
    return a;
}

static void attention_free(attention *a) {
    for (size_t i = 0; i < ARRAYS; i++) free(a->arrays[i]);
    free(a->p);
    free(a->scratch);
}

/* ---- the emulation ---- */

static vit_bf16 bf16; /* the arithmetic that is emulated */

/* Element (i, j) at data[i * row + j * col]. */
typedef struct matrix {
    float *data;
    size_t row, col;
} matrix;

/* C = A B scale, C being [m][n]. */
static void multiply(matrix c, size_t m, size_t n, size_t k, matrix a, matrix b, float scale) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c.data[i * c.row + j] = scale * check_bf16_chain(bf16, a.data + i * a.row, a.col,
                                                             b.data + j * b.col, b.row, k);
}

static matrix transposed(matrix m) {
    return (matrix){m.data, m.col, m.row};
}

/* Of one head; float32 are softmax and its gradient, the library's own. */
static void emulate_head(attention *a, size_t b, size_t h, float *p, const vit_kernels *kernels) {
    const vit_attention_shape *s = &a->s;
    const size_t tokens[] = {s->queries, s->skip + s->keys, s->skip + s->keys, s->queries};
    const size_t rows[] = {s->q_row, s->k_row, s->v_row, s->o_row};
    const size_t n = s->head_dim, queries = s->queries, keys = s->keys, padded = vit_padded(keys);
    matrix m[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++) {
        const size_t first = i % 4 == K || i % 4 == V ? s->skip : 0, row = rows[i % 4];
        m[i] = (matrix){a->arrays[i] + (b * tokens[i % 4] + first) * row + h * n, row, 1};
    }
    const matrix weights = {p, padded, 1};
    const matrix ds = {check_floats(queries * padded), padded, 1};
    multiply(weights, queries, keys, n, m[Q], transposed(m[K]), s->scale);
    kernels->softmax(p, queries, keys);
    multiply(m[O], queries, n, keys, weights, m[V], 1);
    multiply(m[DV], keys, n, queries, transposed(weights), m[DO], 1);
    multiply(ds, queries, keys, n, m[DO], transposed(m[V]), 1);
    kernels->softmax_backward(ds.data, p, s->scale, queries, keys);
    multiply(m[DQ], queries, n, keys, ds, m[K], 1);
    multiply(m[DK], keys, n, queries, transposed(ds), m[Q], 1);
    free(ds.data);
}

static void emulate(attention *a, const vit_kernels *kernels) {
    const vit_attention_shape *s = &a->s;
    for (size_t i = 0; i < s->batch * s->heads; i++)
        emulate_head(a, i / s->heads, i % s->heads, a->p + i * s->queries * vit_padded(s->keys),
                     kernels);
}

/* ---- tests ---- */

static void compare(const char *what, const float *got, const float *want, size_t count,
                    const vit_attention_shape *s, int threads) {
    const size_t other = check_first_other(got, want, count);
    if (other < count)
        fail_msg("%s, %zu x %zu heads of %zu, %zu queries, %zu keys, %d threads: element %zu is "
                 "%a, expected %a",
                 what, s->batch, s->heads, s->head_dim, s->queries, s->keys, threads, other,
                 (double)got[other], (double)want[other]);
}

static void check_passes(const attention *want, const vit_kernels *kernels, int threads,
                         bool keep) {
    static const char *const names[] = {"q", "k", "v", "o", "dq", "dk", "dv", "do"};
    const vit_exec exec = {.kernels = kernels, .threads = threads, .attention = VIT_PRECISION_BF16};
    attention got = attention_new(want->s);
    float **m = got.arrays, *p = keep ? got.p : NULL;
    vit_attention_forward(&exec, m[O], p, m[Q], m[K], m[V], &got.s, got.scratch);
    vit_attention_backward(&exec, m[DQ], m[DK], m[DV], m[DO], p, m[Q], m[K], m[V], &got.s,
                           got.scratch, NULL);
    for (size_t i = 0; i < ARRAYS; i++)
        compare(names[i], m[i], want->arrays[i], want->sizes[i], &want->s, threads);
    if (keep) compare("p", p, want->p, want->weights, &want->s, threads);
    attention_free(&got);
}

static void check_attention(vit_attention_shape s) {
    static const int threads[] = {1, 2, 3, 8};
    const vit_kernels *tables[CHECK_BF16_TABLES];
    const size_t count = check_bf16_tables(tables);
    if (count == 0) skip();
    attention want = attention_new(s);
    for (size_t t = 0; t < count; t++) {
        const vit_bf16 last = bf16;
        bf16 = tables[t]->products[VIT_PRECISION_BF16]->bf16;
        if (t == 0 || bf16 != last) emulate(&want, tables[t]);
        for (size_t i = 0; i < 4; i++) {
            check_passes(&want, tables[t], threads[i], true);
            check_passes(&want, tables[t], threads[i], false);
        }
    }
    attention_free(&want);
}

static void test_lengths(void **state) {
    static const size_t dims[] = {1, 2, 5, 8, 33, 64};
    for (size_t t = 1; t <= 50; t += 7) {
        check_attention(check_attention_shape(1, 1, dims[t % 6], t, t));
        check_attention(check_attention_shape(2, 3, dims[(t + 1) % 6], t, 51 - t));
    }
}

/* Several, with an even and an odd number of queries, and in one block or more. */
static void test_heads_together(void **state) {
    check_attention(check_attention_shape(2, 8, 8, 17, 17));
    check_attention(check_attention_shape(3, 6, 16, 5, 5));
    check_attention(check_attention_shape(2, 4, 10, 36, 36));
    check_attention(check_attention_shape(2, 4, 7, 17, 17)); /* alone, for their width is odd */
    check_attention(check_attention_shape(2, 12, 6, 1, 9));
}

/* Large enough for eight threads to be woken: heads, or parts of them. */
static void test_blocks_and_threads(void **state) {
    check_attention(check_attention_shape(1, 2, 64, 73, 197));
    check_attention(check_attention_shape(1, 3, 24, 145, 145));
    check_attention(check_attention_shape(1, 9, 32, 72, 71));
}

static void test_skip(void **state) {
    vit_attention_shape s = check_attention_shape(3, 2, 6, 4, 7);
    s.skip = 3;
    check_attention(s);
}

/* With a mask, whose blocks are smaller: all tables of an arithmetic give the same bytes. */
static void test_causal(void **state) {
    const vit_kernels *tables[CHECK_BF16_TABLES];
    const size_t count = check_bf16_tables(tables);
    vit_attention_shape s = check_attention_shape(2, 2, 16, 71, 77);
    s.causal = true;
    for (size_t t = 0; t < count; t++) {
        const vit_bf16 last = bf16;
        attention want = attention_new(s);
        bf16 = tables[t]->products[VIT_PRECISION_BF16]->bf16;
        const vit_kernels *first = t > 0 && bf16 <= last ? tables[t - 1] : tables[t];
        const vit_exec exec = {.kernels = first, .threads = 1, .attention = VIT_PRECISION_BF16};
        float **m = want.arrays;
        vit_attention_forward(&exec, m[O], want.p, m[Q], m[K], m[V], &want.s, want.scratch);
        vit_attention_backward(&exec, m[DQ], m[DK], m[DV], m[DO], want.p, m[Q], m[K], m[V], &want.s,
                               want.scratch, NULL);
        check_passes(&want, tables[t], 1, true);
        check_passes(&want, tables[t], 3, false);
        attention_free(&want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_heads_together),
        cmocka_unit_test(test_blocks_and_threads),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_causal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
