/* Attention against a plain reference in double, forward and (by finite differences) backward:
 * query and key lengths that differ, strides of their own, blocks of queries, threads, NaN. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/ops/attention.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define U CHECK_ROUNDOFF
#define SECOND_ORDER 1.001 /* products of two rounding errors */
#define UNTOUCHED 7.0f     /* what lies between the rows */

/* theta: q, k, v one after another, with gaps between their rows; gradients lie alike. */
typedef struct attention {
    vit_attention_shape s;
    size_t k0, v0, n, outputs, weights;
    float *theta, *d_o, *o, *p, *gradient, *before, *scratch;
    double *exact, *want, *want_bound, *bound;
} attention;

static attention attention_new(vit_attention_shape s, float size) {
    attention a = {.s = s};
    vit_random r = check_random((uint32_t)(s.queries * 100 + s.keys));
    a.k0 = s.batch * s.queries * s.q_row;
    a.v0 = a.k0 + s.batch * (s.skip + s.keys) * s.k_row;
    a.n = a.v0 + s.batch * (s.skip + s.keys) * s.v_row;
    a.outputs = s.batch * s.queries * s.o_row;
    a.weights = s.batch * s.heads * s.queries * vit_padded(s.keys);
    float **const floats[] = {&a.theta, &a.gradient, &a.before, &a.d_o, &a.o};
    for (size_t i = 0; i < 5; i++) *floats[i] = check_floats(i < 3 ? a.n : a.outputs);
    double **const doubles[] = {&a.exact, &a.bound, &a.want, &a.want_bound};
    for (size_t i = 0; i < 4; i++) *doubles[i] = check_doubles(i < 2 ? a.n : a.outputs);
    a.p = check_floats(a.weights);
    a.scratch = check_floats(8 * vit_attention_scratch(&s, true));
    check_fill(a.theta, a.n, size, &r);
    check_fill(a.d_o, a.outputs, 1, &r);
    for (size_t i = 0; i < a.n; i++) a.exact[i] = (double)a.theta[i];
    for (size_t i = 0; i < a.n; i++) a.before[i] = a.gradient[i] = UNTOUCHED;
    for (size_t i = 0; i < a.outputs; i++) a.want[i] = (double)(a.o[i] = UNTOUCHED);
    return a;
}

static void attention_free(attention *a) {
    float *const floats[] = {a->theta, a->gradient, a->before, a->d_o, a->o, a->p, a->scratch};
    double *const doubles[] = {a->exact, a->bound, a->want, a->want_bound};
    for (size_t i = 0; i < 7; i++) free(floats[i]);
    for (size_t i = 0; i < 4; i++) free(doubles[i]);
}

static void run_forward(attention *a, vit_exec exec, float *p) {
    const float *q = a->theta, *k = q + a->k0, *v = q + a->v0;
    vit_attention_forward(&exec, a->o, p, q, k, v, &a->s, a->scratch);
}

static void run_backward(attention *a, vit_exec exec, const float *p) {
    const float *q = a->theta, *k = q + a->k0, *v = q + a->v0;
    float *dq = a->gradient, *dk = dq + a->k0, *dv = dq + a->v0;
    vit_attention_backward(&exec, dq, dk, dv, a->d_o, p, q, k, v, &a->s, a->scratch, NULL);
}

/* ---- the reference, head by head ---- */

/* Where a head's rows begin in q, k, v, o: floats from the array's start. */
typedef struct head {
    size_t q, k, v, o;
} head;

static head head_at(const attention *a, size_t index) {
    const vit_attention_shape *s = &a->s;
    const size_t b = index / s->heads, column = index % s->heads * s->head_dim;
    const size_t key = b * (s->skip + s->keys) + s->skip;
    return (head){b * s->queries * s->q_row + column, a->k0 + key * s->k_row + column,
                  a->v0 + key * s->v_row + column, b * s->queries * s->o_row + column};
}

/* Keys that a query sees. */
static size_t seen(const vit_attention_shape *s, size_t query) {
    return s->causal ? s->keys - s->queries + query + 1 : s->keys;
}

/* p[queries][keys] = softmax(Q K^T scale), 0 where it is masked. */
static void reference_weights(double *p, const double *theta, const attention *a, head h) {
    const vit_attention_shape *s = &a->s;
    for (size_t i = 0; i < s->queries; i++, p += s->keys) {
        const double *q = theta + h.q + i * s->q_row;
        double sum = 0, max = -INFINITY;
        for (size_t j = 0; j < seen(s, i); j++) {
            const double *k = theta + h.k + j * s->k_row;
            p[j] = 0;
            for (size_t c = 0; c < s->head_dim; c++) p[j] += q[c] * k[c] * (double)s->scale;
            max = fmax(max, p[j]);
        }
        for (size_t j = 0; j < seen(s, i); j++) sum += p[j] = exp(p[j] - max);
        for (size_t j = 0; j < s->keys; j++) p[j] = j < seen(s, i) ? p[j] / sum : 0;
    }
}

/* Element c of output row i. */
static double reference_output(const double *p, const double *theta, const attention *a, head h,
                               size_t i, size_t c) {
    double o = 0;
    for (size_t j = 0; j < a->s.keys; j++)
        o += p[i * a->s.keys + j] * theta[h.v + j * a->s.v_row + c];
    return o;
}

static double loss(const double *theta, const void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    double *p = check_doubles(s->queries * s->keys), sum = 0;
    for (size_t index = 0; index < s->batch * s->heads; index++) {
        const head h = head_at(a, index);
        reference_weights(p, theta, a, h);
        for (size_t i = 0; i < s->queries; i++)
            for (size_t c = 0; c < s->head_dim; c++)
                sum +=
                    (double)a->d_o[h.o + i * s->o_row + c] * reference_output(p, theta, a, h, i, c);
    }
    free(p);
    return sum;
}

/* ---- bounds: u = 2^-24, gamma(n) = n u / (1 - n u) bounds a chain of n roundings ---- */

/* Relative error of each weight. Score S is off by gamma(d + 1) scale sum|q k|, its distance to the
 * maximum, at most twice the row's largest sum, by u of that (all are measured from one maximum,
 * whose own error cancels), exp by its stated error: e. P = exp / sum is off by e, the largest e of
 * the row, and the roundings of the sum (ceil(keys / 16) + 4), the division and the product. */
static void weight_errors(double *error, const attention *a, head h) {
    const vit_attention_shape *s = &a->s;
    for (size_t i = 0; i < s->queries; i++, error += s->keys) {
        double largest = 0;
        for (size_t j = 0; j < s->keys; j++) {
            error[j] = 0; /* sum|q k| first */
            for (size_t c = 0; c < s->head_dim; c++)
                error[j] +=
                    fabs(a->exact[h.q + i * s->q_row + c] * a->exact[h.k + j * s->k_row + c]) *
                    (double)s->scale;
            largest = fmax(largest, error[j]);
        }
        const double same = 2 * U * largest + CHECK_EXP_ERROR;
        const double row =
            check_gamma(s->head_dim + 1) * largest + same + check_gamma((s->keys + 15) / 16 + 6);
        for (size_t j = 0; j < s->keys; j++)
            error[j] = check_gamma(s->head_dim + 1) * error[j] + same + row;
    }
}

static void forward_bounds(attention *a, head h, const double *p, const double *error) {
    const vit_attention_shape *s = &a->s;
    for (size_t i = 0; i < s->queries; i++) {
        for (size_t c = 0; c < s->head_dim; c++) {
            const size_t at = h.o + i * s->o_row + c;
            a->want[at] = reference_output(p, a->exact, a, h, i, c);
            for (size_t j = 0; j < s->keys; j++)
                a->want_bound[at] += SECOND_ORDER * p[i * s->keys + j] *
                                     fabs(a->exact[h.v + j * s->v_row + c]) *
                                     (error[i * s->keys + j] + check_gamma(s->keys));
        }
    }
}

/* dP_j = dO V_j of query i, and its error gamma(d) sum|dO V_j|. */
static void weight_gradients(double *dp, double *dp_error, const attention *a, head h, size_t i) {
    const vit_attention_shape *s = &a->s;
    for (size_t j = 0; j < s->keys; j++) {
        dp[j] = dp_error[j] = 0;
        for (size_t c = 0; c < s->head_dim; c++) {
            const double term =
                (double)a->d_o[h.o + i * s->o_row + c] * a->exact[h.v + j * s->v_row + c];
            dp[j] += term;
            dp_error[j] += check_gamma(s->head_dim) * fabs(term);
        }
    }
}

/* Query i: D = sum P dP, dS = scale P (dP - D), errors term by term; dQ = dS K and dK = dS^T Q are
 * chains over the keys and the queries, dV = P^T dO over the queries. */
static void backward_bounds(attention *a, head h, size_t i, const double *p, const double *error) {
    const vit_attention_shape *s = &a->s;
    double *dp = check_doubles(s->keys), *dp_error = check_doubles(s->keys);
    double mean = 0, mean_error = 0;
    weight_gradients(dp, dp_error, a, h, i);
    for (size_t j = 0; j < s->keys; j++) {
        mean += p[j] * dp[j];
        mean_error +=
            p[j] * ((error[j] + check_gamma((s->keys + 15) / 16 + 4)) * fabs(dp[j]) + dp_error[j]);
    }
    for (size_t j = 0; j < s->keys; j++) {
        const double scale = (double)s->scale * p[j], ds = scale * (dp[j] - mean);
        const double ds_error = fabs(ds) * (error[j] + 3 * U) + scale * (dp_error[j] + mean_error);
        for (size_t c = 0; c < s->head_dim; c++) {
            const size_t q = h.q + i * s->q_row + c, k = h.k + j * s->k_row + c;
            const double d_o = (double)a->d_o[h.o + i * s->o_row + c];
            a->bound[q] +=
                SECOND_ORDER * fabs(a->exact[k]) * (ds_error + check_gamma(s->keys) * fabs(ds));
            a->bound[k] +=
                SECOND_ORDER * fabs(a->exact[q]) * (ds_error + check_gamma(s->queries) * fabs(ds));
            a->bound[h.v + j * s->v_row + c] +=
                SECOND_ORDER * fabs(d_o) * p[j] * (error[j] + check_gamma(s->queries));
        }
    }
    free(dp);
    free(dp_error);
}

/* Sets want and the bounds; a head's own gradients are set, not added to. */
static void reference(attention *a) {
    const vit_attention_shape *s = &a->s;
    double *p = check_doubles(s->queries * s->keys), *error = check_doubles(s->queries * s->keys);
    for (size_t index = 0; index < s->batch * s->heads; index++) {
        const head h = head_at(a, index);
        reference_weights(p, a->exact, a, h);
        weight_errors(error, a, h);
        forward_bounds(a, h, p, error);
        for (size_t i = 0; i < s->queries; i++)
            backward_bounds(a, h, i, p + i * s->keys, error + i * s->keys);
        for (size_t c = 0; c < s->head_dim; c++) {
            for (size_t i = 0; i < s->queries; i++) a->before[h.q + i * s->q_row + c] = 0;
            for (size_t j = 0; j < s->keys; j++) a->before[h.k + j * s->k_row + c] = 0;
            for (size_t j = 0; j < s->keys; j++) a->before[h.v + j * s->v_row + c] = 0;
        }
    }
    free(p);
    free(error);
}

/* ---- tests ---- */

static vit_exec one_thread(void) {
    return (vit_exec){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 1};
}

static void check_attention(vit_attention_shape s) {
    attention a = attention_new(s, 2);
    char what[80];
    snprintf(what, sizeof what, "attention, %zu heads of %zu, %zu queries, %zu keys", s.heads,
             s.head_dim, s.queries, s.keys);
    reference(&a);
    run_forward(&a, one_thread(), a.p);
    assert_true(check_within(what, a.o, a.want, a.want_bound, a.outputs));
    run_backward(&a, one_thread(), a.p);
    assert_true(check_gradient(what, loss, &a, a.exact, a.n, a.gradient, a.before, a.bound));
    for (size_t i = 0; i < a.n; i++) /* between the rows nothing was written */
        if (a.before[i] > 0) assert_true(check_same(a.gradient[i], UNTOUCHED));
    attention_free(&a);
}

static void test_lengths(void **state) {
    static const size_t dims[] = {1, 3, 8, 13};
    for (size_t t = 1; t <= 65; t++) {
        check_attention(check_attention_shape(1, 1, dims[t % 4], t, t));
        check_attention(check_attention_shape(1, 1, dims[t / 4 % 4], t, 66 - t));
    }
}

/* Below, at and above the blocks of queries that attention.c takes. */
static void test_blocks(void **state) {
    static const size_t queries[] = {71, 72, 73, 144, 145};
    for (size_t i = 0; i < 5; i++) {
        check_attention(check_attention_shape(1, 2, 3, queries[i], 5));
        check_attention(check_attention_shape(2, 1, 8, queries[i], 33));
    }
    check_attention(check_attention_shape(1, 1, 13, 145, 145));
}

static void test_heads(void **state) {
    static const size_t counts[] = {1, 2, 3, 5};
    static const size_t dims[] = {1, 3, 8, 13};
    for (size_t b = 0; b < 3; b++)
        for (size_t h = 0; h < 4; h++)
            for (size_t d = 0; d < 4; d++)
                check_attention(check_attention_shape(counts[b], counts[h], dims[d], 5, 3));
    check_attention(check_attention_shape(2, 8, 8, 17, 17)); /* four together */
    check_attention(
        check_attention_shape(1, 6, 5, 14, 19)); /* three, for five are no part of six */
}

static vit_attention_shape causal(vit_attention_shape s) {
    s.causal = true;
    return s;
}

/* Blocks of 8 queries; more keys than queries are those of tokens that were there before. */
static void test_causal(void **state) {
    static const size_t dims[] = {1, 3, 8, 13};
    for (size_t t = 1; t <= 40; t++) {
        check_attention(causal(check_attention_shape(1, 1, dims[t % 4], t, t)));
        check_attention(causal(check_attention_shape(2, 2, dims[t / 4 % 4], t, t + t % 7)));
    }
}

/* What a query does not see may be anything. */
static void test_causal_nan(void **state) {
    enum { TOKENS = 21, DIM = 3 };
    const vit_attention_shape s = causal(check_attention_shape(1, 1, DIM, TOKENS, TOKENS));
    attention want = attention_new(s, 2), got = attention_new(s, 2);
    run_forward(&want, one_thread(), want.p);
    for (size_t t = 0; t < TOKENS; t++) {
        memcpy(got.theta, want.theta, got.n * sizeof *got.theta);
        for (size_t j = t + 1; j < TOKENS; j++)
            got.theta[got.k0 + j * s.k_row] = got.theta[got.v0 + j * s.v_row] = NAN;
        run_forward(&got, one_thread(), got.p);
        assert_memory_equal(got.o + t * s.o_row, want.o + t * s.o_row, DIM * sizeof(float));
        assert_memory_equal(got.p + t * vit_padded(TOKENS), want.p + t * vit_padded(TOKENS),
                            vit_padded(TOKENS) * sizeof(float));
    }
    attention_free(&want);
    attention_free(&got);
}

/* Samples of lengths of their own have the bytes that each has alone. */
static void check_spans(bool is_causal, bool keep, int threads) {
    static const vit_attention_span spans[] = {{0, 5, 2, 5}, {5, 1, 7, 30}, {6, 20, 37, 20}};
    enum { QUERIES = 26, KEYS = 57, HEADS = 2, DIM = 5 };
    vit_attention_shape s = check_attention_shape(1, HEADS, DIM, QUERIES, KEYS);
    s.causal = is_causal;
    attention all = attention_new(s, 2), one = attention_new(s, 2);
    const size_t most = vit_padded(30);
    all.s.batch = 3, all.s.queries = 20, all.s.keys = 30, all.s.spans = spans;
    const vit_exec exec = {.kernels = vit_kernels_scalar(), .threads = threads};
    run_forward(&all, exec, keep ? all.p : NULL);
    run_backward(&all, exec, keep ? all.p : NULL);
    for (size_t b = 0; b < 3; b++) {
        const vit_attention_span *at = &spans[b];
        const size_t q = at->query * s.q_row, k = one.k0 + at->key * s.k_row;
        const size_t v = one.v0 + at->key * s.v_row, o = at->query * s.o_row;
        one.s.queries = at->queries, one.s.keys = at->keys;
        float *g = one.gradient, *t = one.theta;
        vit_attention_forward(&exec, one.o + o, one.p, t + q, t + k, t + v, &one.s, one.scratch);
        if (keep)
            assert_memory_equal(one.p, all.p + HEADS * at->query * most,
                                HEADS * at->queries * vit_padded(at->keys) * sizeof(float));
        vit_attention_backward(&exec, g + q, g + k, g + v, one.d_o + o, one.p, t + q, t + k, t + v,
                               &one.s, one.scratch, NULL);
    }
    assert_memory_equal(one.o, all.o, one.outputs * sizeof(float));
    assert_memory_equal(one.gradient, all.gradient, one.n * sizeof(float));
    attention_free(&all);
    attention_free(&one);
}

static void test_spans(void **state) {
    for (int i = 0; i < 8; i++) check_spans(i & 1, i & 2, i & 4 ? 3 : 1);
}

/* Keys and values that nobody looks at get no gradient. */
static void test_skip(void **state) {
    for (size_t skip = 1; skip < 4; skip++) {
        vit_attention_shape s = check_attention_shape(3, 2, 5, skip, 7);
        s.skip = skip;
        check_attention(s);
    }
}

static void check_same_bytes(vit_attention_shape s) {
    static const int threads[] = {1, 2, 3, 8};
    const vit_kernels *tables[CHECK_MOST_TABLES];
    const size_t table_count = check_tables(tables);
    attention want = attention_new(s, 2), got = attention_new(s, 2);
    const vit_exec eight = {.kernels = vit_kernels_scalar(), .threads = 8};
    const vit_exec one = {.kernels = vit_kernels_scalar(), .threads = 1};
    const size_t work = 2 * s.batch * s.heads * s.queries * s.keys * s.head_dim;
    assert_int_equal(vit_exec_threads(&eight, work), 8);
    run_forward(&want, one, want.p);
    run_backward(&want, one, want.p);
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < 4; i++) {
            const vit_exec exec = {.kernels = tables[t], .threads = threads[i]};
            run_forward(&got, exec, NULL);
            assert_memory_equal(got.o, want.o, got.outputs * sizeof(float));
            run_forward(&got, exec, got.p);
            run_backward(&got, exec, got.p);
            assert_memory_equal(got.o, want.o, got.outputs * sizeof(float));
            assert_memory_equal(got.p, want.p, got.weights * sizeof(float));
            assert_memory_equal(got.gradient, want.gradient, got.n * sizeof(float));
            for (size_t k = 0; k < got.n; k++) got.gradient[k] = UNTOUCHED;
            run_backward(&got, exec, NULL);
            assert_memory_equal(got.gradient, want.gradient, got.n * sizeof(float));
        }
    }
    attention_free(&want);
    attention_free(&got);
}

/* Every table, every number of threads, with the weights kept or not: the same bytes. */
static void test_same_bytes(void **state) {
    check_same_bytes(check_attention_shape(3, 5, 13, 65, 97));
    check_same_bytes(check_attention_shape(1, 3, 50, 80, 97));  /* few heads: threads share them */
    check_same_bytes(check_attention_shape(1, 4, 50, 30, 300)); /* though their queries are few */
    check_same_bytes(check_attention_shape(96, 6, 8, 17, 17));  /* few queries: heads go together */
    check_same_bytes(causal(check_attention_shape(3, 5, 13, 65, 97)));
    check_same_bytes(causal(check_attention_shape(2, 3, 50, 97, 97)));
}

/* A query alone has the output that it has among others. */
static void test_query_alone(void **state) {
    attention all = attention_new(check_attention_shape(1, 2, 13, 97, 33), 2);
    run_forward(&all, one_thread(), NULL);
    const vit_exec exec = one_thread();
    const size_t dim = 2 * 13;
    float o[2 * 13];
    for (size_t i = 0; i < 97; i++) {
        vit_attention_shape s = all.s;
        s.queries = 1;
        vit_attention_forward(&exec, o, NULL, all.theta + i * s.q_row, all.theta + all.k0,
                              all.theta + all.v0, &s, all.scratch);
        assert_memory_equal(o, all.o + i * s.o_row, dim * sizeof(float));
    }
    attention_free(&all);
}

/* NaN at theta[at]: which outputs of head 1 of 2 become NaN. Head 0 has none. */
static void check_nan(size_t at, size_t row0, size_t row1, size_t column0, size_t column1,
                      attention *a) {
    const vit_attention_shape *s = &a->s;
    const float kept = a->theta[at];
    a->theta[at] = NAN;
    run_forward(a, one_thread(), a->p);
    for (size_t i = 0; i < s->queries; i++) {
        for (size_t c = 0; c < 2 * s->head_dim; c++) {
            const bool hit =
                i >= row0 && i < row1 && c >= s->head_dim + column0 && c < s->head_dim + column1;
            assert_int_equal(isnan(a->o[i * s->o_row + c]) != 0, hit);
        }
    }
    a->theta[at] = kept;
}

static void test_nan(void **state) {
    attention a = attention_new(check_attention_shape(1, 2, 3, 50, 17), 2);
    check_nan(49 * a.s.q_row + 3 + 2, 49, 50, 0, 3, &a);       /* a query: its row */
    check_nan(a.k0 + 16 * a.s.k_row + 3, 0, 50, 0, 3, &a);     /* a key: the head */
    check_nan(a.v0 + 16 * a.s.v_row + 3 + 1, 0, 50, 1, 2, &a); /* a value: its column */
    attention_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),     cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_heads),       cmocka_unit_test(test_skip),
        cmocka_unit_test(test_causal),      cmocka_unit_test(test_causal_nan),
        cmocka_unit_test(test_spans),       cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_query_alone), cmocka_unit_test(test_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
