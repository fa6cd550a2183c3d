/* Operators, forward against plain references in double, backward against finite differences of
 * the same references, over odd shapes. (Attention: test_attention.c.) */
#include "tests/support/problem.h"
#include "tests/support/truth.h"
#include "tests/support/unit.h"
#include "vit/ops/activation.h"
#include "vit/ops/embed.h"
#include "vit/ops/gemm/gemm.h"
#include "vit/ops/layernorm.h"
#include "vit/ops/linear.h"
#include "vit/ops/loss.h"
#include "vit/ops/patch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1, 2, 3, 5, 17, 33};
#define SIZES (sizeof sizes / sizeof *sizes)

/* ---- linear: theta = x, W, b ---- */

typedef struct linear_case {
    size_t rows, in, out;
    problem *p;
} linear_case;

static double linear_at(const double *theta, const linear_case *c, size_t i, size_t o) {
    const double *x = theta + i * c->in, *w = theta + c->rows * c->in + o * c->in;
    double y = theta[(c->rows + c->out) * c->in + o];
    for (size_t k = 0; k < c->in; k++) y += x[k] * w[k];
    return y;
}

static double linear_loss(const double *theta, const void *context) {
    const linear_case *c = context;
    double loss = 0;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t o = 0; o < c->out; o++)
            loss += linear_at(theta, c, i, o) * (double)c->p->dy[i * c->out + o];
    return loss;
}

/* Chains: y over `in` products, then bias and residual; dx over `out`; dW, db over `rows`, from
 * what was there. */
static void linear_bounds(const linear_case *c, const float *residual) {
    const problem *p = c->p;
    const size_t w0 = c->rows * c->in, b0 = w0 + c->out * c->in;
    const double chain = check_gamma(c->rows);
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t o = 0; o < c->out; o++) {
            const size_t at = i * c->out + o;
            const double g = fabs((double)p->dy[at]);
            double sum = fabs(p->exact[b0 + o]) + fabs((double)residual[at]);
            for (size_t k = 0; k < c->in; k++) {
                const double x = fabs(p->exact[i * c->in + k]);
                const double w = fabs(p->exact[w0 + o * c->in + k]);
                sum += x * w;
                p->bound[i * c->in + k] += check_gamma(c->out) * g * w;
                p->bound[w0 + o * c->in + k] += chain * g * x;
            }
            p->bound[b0 + o] += chain * g;
            p->want[at] = linear_at(p->exact, c, i, o) + (double)residual[at];
            p->want_bound[at] = check_gamma(c->in + 2) * sum;
        }
    }
    for (size_t i = w0; i < p->n; i++) p->bound[i] += chain * fabs((double)p->before[i]);
}

static void check_linear(size_t rows, size_t in, size_t out) {
    const vit_exec exec = one_thread();
    problem p = problem_new((rows + out) * in + out, rows * out, (uint32_t)(rows + in * out));
    const linear_case c = {rows, in, out, &p};
    const float *weight = p.theta + rows * in, *bias = weight + out * in;
    float *packed = check_floats(vit_packed_size(out, in)), *dw = p.gradient + rows * in;
    const vit_linear w = {.in = in, .out = out, .weight = weight, .bias = bias, .packed = packed};
    const vit_linear_gradient d = {dw, dw + out * in, false};
    vit_pack_transposed(&exec, packed, weight, out, in, in);
    problem_add_to(&p, rows * in);
    linear_bounds(&c, p.dy);
    const vit_residual_sum sum = {.residual = p.dy}; /* dy serves as the residual, too */
    vit_linear_forward(&exec, p.y, p.theta, &w, &sum, rows);
    check_forward("linear y", &p);
    vit_linear_backward(&exec, p.gradient, &d, p.dy, p.theta, &w, rows);
    check_backward("linear", &p, linear_loss, &c);
    free(packed);
    problem_free(&p);
}

static void test_linear(void **state) {
    for (size_t a = 0; a < SIZES; a++)
        for (size_t b = 0; b < SIZES; b++)
            for (size_t c = 0; c < SIZES; c++) check_linear(sizes[a], sizes[b], sizes[c]);
    check_linear(3, VIT_K_BLOCK + 1, 5);
    check_linear(261, 3, 5);
    check_linear(5, 2, 300);
}

/* ---- layer norm: theta = x, gamma, beta ---- */

typedef struct norm_case {
    size_t rows, n;
    problem *p;
} norm_case;

static const double norm_eps = 1e-6f; /* the float the kernel is given, exactly */

static void moments(const double *x, size_t n, double *mean, double *rstd) {
    double sum = 0, squares = 0;
    for (size_t j = 0; j < n; j++) sum += x[j];
    *mean = sum / (double)n;
    for (size_t j = 0; j < n; j++) squares += (x[j] - *mean) * (x[j] - *mean);
    *rstd = 1 / sqrt(squares / (double)n + norm_eps);
}

static void norm_forward(double *y, const double *theta, const norm_case *c) {
    const double *gamma = theta + c->rows * c->n, *beta = gamma + c->n;
    for (size_t i = 0; i < c->rows; i++) {
        double mean, rstd;
        const double *x = theta + i * c->n;
        moments(x, c->n, &mean, &rstd);
        for (size_t j = 0; j < c->n; j++)
            y[i * c->n + j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
    }
}

static double norm_loss(const double *theta, const void *context) {
    const norm_case *c = context;
    double *y = check_doubles(c->rows * c->n);
    norm_forward(y, theta, c);
    const double loss = weighted(y, c->p->dy, c->rows * c->n);
    free(y);
    return loss;
}

/* One row. A row sum takes ceil(n / 16) + 4 roundings, its division one more: `chain`.
 *   mean:  e_m = gamma(chain) mean|x|
 *   variance: squares of x - mean, each off by e_m + u |x - mean|; as sum(x - mean) = 0 a shift by
 *     e_m adds e_m^2, and the rest is relative: (chain + 2) u
 *   rstd:  half the relative error of variance + eps, whose sum, root and division round: e_r
 *   h:     e_h = rstd e_m + |h| (e_r + 2 u)
 *   y:     |gamma| e_h + u (|h gamma| + |y|)
 *   dgamma, dbeta: chains over the rows from what was there
 *   dx = rstd (g - mean(g) - h mean(g h)), g = dy gamma: term by term, plus what was there. */
static void norm_row_bounds(const norm_case *c, size_t row) {
    const problem *p = c->p;
    const size_t n = c->n, chain = (n + 15) / 16 + 5, g0 = c->rows * n;
    const double *x = p->exact + row * n, count = (double)n;
    double mean, rstd, size = 0, g_size = 0, gh = 0, e_gh = 0;
    moments(x, n, &mean, &rstd);
    for (size_t j = 0; j < n; j++) size += fabs(x[j]) / count;
    const double e_m = check_gamma(chain) * size;
    const double e_r = ((double)(chain + 2) * U + e_m * e_m * rstd * rstd) / 2 + 3 * U;
    double *e_h = check_doubles(n);
    for (size_t j = 0; j < n; j++) {
        const double h = (x[j] - mean) * rstd, dy = (double)p->dy[row * n + j];
        const double gamma = p->exact[g0 + j], y = h * gamma + p->exact[g0 + n + j];
        e_h[j] = rstd * e_m + fabs(h) * (e_r + 2 * U);
        p->want_bound[row * n + j] =
            SECOND_ORDER * (fabs(gamma) * e_h[j] + U * (fabs(h * gamma) + fabs(y)));
        p->bound[g0 + j] += check_gamma(c->rows) * fabs(dy * h) + fabs(dy) * e_h[j];
        p->bound[g0 + n + j] += check_gamma(c->rows) * fabs(dy);
        g_size += fabs(dy * gamma) / count;
        gh += dy * gamma * h / count;
        e_gh += fabs(dy * gamma) * (e_h[j] + check_gamma(chain + 1) * fabs(h)) / count;
    }
    for (size_t j = 0; j < n; j++) {
        const double h = (x[j] - mean) * rstd;
        const double g = fabs((double)p->dy[row * n + j] * p->exact[g0 + j]);
        const double terms = g + g_size + fabs(h * gh);
        const double e_terms = U * g + check_gamma(chain + 1) * g_size + e_h[j] * fabs(gh) +
                               fabs(h) * e_gh + 3 * U * terms;
        p->bound[row * n + j] = SECOND_ORDER * (rstd * (e_terms + terms * (e_r + U)) +
                                                U * fabs((double)p->before[row * n + j]));
    }
    free(e_h);
}

static void check_layernorm(size_t rows, size_t n) {
    const vit_exec exec = one_thread();
    problem p = problem_new((rows + 2) * n, rows * n, (uint32_t)(rows * 100 + n));
    const norm_case c = {rows, n, &p};
    const float *gamma = p.theta + rows * n;
    float *stats = check_floats(2 * rows), *d_gamma = p.gradient + rows * n;
    const vit_norm w = {.dim = n, .eps = (float)norm_eps, .gamma = gamma, .beta = gamma + n};
    const vit_norm_gradient d = {d_gamma, d_gamma + n};
    const vit_norm_state s = {stats, stats + rows};
    problem_add_to(&p, 0);
    for (size_t i = rows * n; i < p.n; i++)
        p.bound[i] = check_gamma(rows) * fabs((double)p.before[i]);
    for (size_t i = 0; i < rows; i++) norm_row_bounds(&c, i);
    norm_forward(p.want, p.exact, &c);
    vit_layernorm_forward(&exec, p.y, &s, p.theta, &w, rows);
    check_forward("layer norm y", &p);
    vit_layernorm_backward(&exec, p.gradient, &d, p.dy, p.theta, &s, &w, rows);
    check_backward("layer norm", &p, norm_loss, &c);
    free(stats);
    problem_free(&p);
}

static void test_layernorm(void **state) {
    for (size_t a = 0; a < SIZES; a++)
        for (size_t b = 0; b < SIZES; b++) check_layernorm(sizes[a], sizes[b]);
    check_layernorm(65, 129);
}

/* ---- embedding: theta = class token, positions, embedded patches ---- */

typedef struct embed_case {
    size_t batch, patches, dim;
    problem *p;
} embed_case;

static void embed_forward(double *z, const double *theta, const embed_case *c) {
    const size_t d = c->dim, tokens = c->patches + 1;
    const double *positions = theta + d, *embedded = positions + tokens * d;
    for (size_t i = 0; i < c->batch * tokens * d; i++) {
        const size_t b = i / (tokens * d), t = i / d % tokens, j = i % d;
        const double x = t == 0 ? theta[j] : embedded[(b * c->patches + t - 1) * d + j];
        z[i] = x + positions[t * d + j];
    }
}

static double embed_loss(const double *theta, const void *context) {
    const embed_case *c = context;
    double *z = check_doubles(c->p->outputs);
    embed_forward(z, theta, c);
    const double loss = weighted(z, c->p->dy, c->p->outputs);
    free(z);
    return loss;
}

/* d_class and d_positions are chains over the batch; d_embedded is copied. */
static void embed_bounds(const embed_case *c) {
    const problem *p = c->p;
    const size_t d = c->dim, tokens = c->patches + 1;
    for (size_t i = 0; i < d + tokens * d; i++)
        p->bound[i] = check_gamma(c->batch) * fabs((double)p->before[i]);
    for (size_t i = 0; i < p->outputs; i++) {
        const double g = check_gamma(c->batch) * fabs((double)p->dy[i]);
        p->bound[d + i % (tokens * d)] += g;
        if (i / d % tokens == 0) p->bound[i % d] += g;
        p->want_bound[i] = U * fabs(p->want[i]);
    }
}

static void check_embed(size_t batch, size_t patches, size_t dim) {
    const vit_exec exec = one_thread();
    const size_t tokens = patches + 1, fixed = dim + tokens * dim;
    problem p = problem_new(fixed + batch * patches * dim, batch * tokens * dim, (uint32_t)dim);
    const embed_case c = {batch, patches, dim, &p};
    problem_add_to(&p, 0);
    memset(p.before + fixed, 0, (p.n - fixed) * sizeof(float));
    embed_forward(p.want, p.exact, &c);
    embed_bounds(&c);
    const vit_embed_shape shape = {batch, dim, patches, {1}, true};
    const float *prefix[VIT_EMBED_PREFIXES] = {p.theta};
    float *d_prefix[VIT_EMBED_PREFIXES] = {p.gradient};
    vit_embed_forward(p.y, p.theta + fixed, prefix, p.theta + dim, &shape);
    check_forward("embedding z", &p);
    vit_embed_backward(&exec, p.gradient + fixed, d_prefix, p.gradient + dim, p.dy, &shape);
    check_backward("embedding", &p, embed_loss, &c);
    problem_free(&p);
}

static void test_embed(void **state) {
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            for (size_t c = 0; c < SIZES; c++) check_embed(sizes[a], sizes[b], sizes[c]);
}

/* ---- loss: theta = logits ---- */

typedef struct loss_case {
    size_t classes, label;
    double smoothing, weight;
} loss_case;

static void softmax(double *p, const double *x, size_t n) {
    double sum = 0, max = x[0];
    for (size_t i = 0; i < n; i++) max = fmax(max, x[i]);
    for (size_t i = 0; i < n; i++) sum += p[i] = exp(x[i] - max);
    for (size_t i = 0; i < n; i++) p[i] /= sum;
}

static double cross_entropy(const double *theta, const void *context) {
    const loss_case *c = context;
    double *p = check_doubles(c->classes), loss = 0;
    softmax(p, theta, c->classes);
    for (size_t i = 0; i < c->classes; i++) {
        const double even = c->smoothing / (double)c->classes;
        loss -= (even + (i == c->label ? 1 - c->smoothing : 0)) * log(p[i]);
    }
    free(p);
    return c->weight * loss;
}

/* All is in double except the last step: rounding to float, u of the result; a sum of `classes`
 * exponentials and a logarithm before it leave (classes + 64) 2^-53 of numbers of size 30. */
static void check_loss_of(const loss_case *c, float spread) {
    problem p = problem_new(c->classes, c->classes, (uint32_t)c->classes);
    const double rest = (double)(c->classes + 64) * 30 * 0x1p-53;
    for (size_t i = 0; i < p.n; i++) p.exact[i] = (double)(p.theta[i] *= spread);
    softmax(p.want, p.exact, p.n);
    for (size_t i = 0; i < p.n; i++) {
        p.want_bound[i] = U * p.want[i] + rest;
        p.bound[i] = U * c->weight + rest; /* |softmax - target| <= 1 */
    }
    vit_softmax(p.y, p.theta, p.n);
    check_forward("softmax", &p);
    const double want = cross_entropy(p.exact, c) / c->weight;
    const double loss =
        vit_cross_entropy(p.gradient, p.theta, p.n, c->label, c->smoothing, c->weight);
    assert_true(fabs(loss - want) <= rest * (1 + want));
    assert_true(
        fabs(vit_cross_entropy(NULL, p.theta, p.n, c->label, c->smoothing, c->weight) - loss) <= 0);
    check_backward("cross-entropy", &p, cross_entropy, c);
    problem_free(&p);
}

static void test_loss(void **state) {
    static const double smoothings[] = {0, .1, .9};
    for (size_t i = 0; i < SIZES; i++) {
        for (size_t s = 0; s < 3; s++) {
            const loss_case c = {sizes[i], sizes[i] / 2, smoothings[s], 1 / 3.};
            check_loss_of(&c, 1);
            check_loss_of(&c, 10);
        }
    }
}

/* Far-off logits: nothing overflows, the loss is the difference. */
static void test_loss_extremes(void **state) {
    const float logits[] = {3e38f, -3e38f, 0}, flat[] = {-1e30f, -1e30f};
    float d[3];
    assert_true(fabs(vit_cross_entropy(d, logits, 3, 0, 0, 1)) <= 0);
    assert_true(fabs(vit_cross_entropy(d, logits, 3, 1, 0, 1) / 6e38 - 1) <= 1e-6);
    assert_true(fabsf(d[0] - 1) <= 0 && fabsf(d[1] + 1) <= 0 && fabsf(d[2]) <= 0);
    assert_true(fabs(vit_cross_entropy(d, flat, 2, 1, 0, 1) - log(2)) <= 1e-15);
}

/* ---- patches ---- */

static void check_patches(const vit_patch_shape *s) {
    const size_t pixels = s->height * s->width * s->channels, across = s->width / s->patch;
    float *image = check_floats(pixels);
    check_memory m = check_memory_new(pixels);
    float *patches = check_memory_take(&m, pixels, CHECK_AT_END);
    for (size_t i = 0; i < pixels; i++) image[i] = (float)i;
    vit_patch_extract(patches, image, s);
    assert_true(check_memory_intact(&m));
    for (size_t i = 0; i < pixels; i++) { /* pixel i goes to its place */
        const size_t c = i % s->channels, x = i / s->channels % s->width;
        const size_t y = i / s->channels / s->width, p = s->patch;
        const size_t patch = y / p * across + x / p;
        const size_t inside = s->order == VIT_PATCH_CONV ? (c * p + y % p) * p + x % p
                                                         : (y % p * p + x % p) * s->channels + c;
        assert_true(check_same(patches[patch * p * p * s->channels + inside], image[i]));
    }
    check_memory_free(&m);
    free(image);
}

static void test_patches(void **state) {
    static const size_t sides[] = {1, 2, 3, 5, 7};
    for (size_t p = 0; p < 5; p++)
        for (size_t down = 1; down <= 3; down++)
            for (size_t across = 1; across <= 4; across++)
                for (size_t channels = 1; channels <= 3; channels += 2)
                    for (vit_patch_order o = VIT_PATCH_CONV; o <= VIT_PATCH_PIXEL; o++)
                        check_patches(&(vit_patch_shape){down * sides[p], across * sides[p],
                                                         channels, sides[p], o});
}

/* ---- NaN comes through; threads change nothing ---- */

static void assert_nan_only(const float *x, size_t n, size_t from, size_t to) {
    for (size_t i = 0; i < n; i++) assert_int_equal(isnan(x[i]) != 0, i >= from && i < to);
}

static void test_nan(void **state) {
    const vit_exec exec = one_thread();
    float x[3 * 17], y[3 * 17], weight[17 * 17], mean[3], rstd[3], packed[32 * 17];
    vit_random r = check_random(4);
    check_fill(x, 3 * 17, 1, &r);
    check_fill(weight, 17 * 17, 1, &r);
    x[17 + 16] = NAN;
    vit_pack_transposed(&exec, packed, weight, 17, 17, 17);
    const vit_linear w = {.in = 17, .out = 17, .weight = weight, .packed = packed};
    vit_linear_forward(&exec, y, x, &w, NULL, 3);
    assert_nan_only(y, 3 * 17, 17, 34);
    vit_layernorm_forward(
        &exec, y, &(vit_norm_state){mean, rstd}, x,
        &(vit_norm){.dim = 17, .eps = 1e-6f, .gamma = weight, .beta = weight + 17}, 3);
    assert_nan_only(y, 3 * 17, 17, 34);
    vit_activation_forward(&exec, VIT_GELU, y, x, 3 * 17);
    assert_nan_only(y, 3 * 17, 33, 34);
    vit_softmax(y, x + 17, 17);
    assert_nan_only(y, 17, 0, 17);
    assert_true(isnan(vit_cross_entropy(y, x + 17, 17, 3, .1, 1)));
    assert_nan_only(y, 17, 0, 17);
    assert_true(isnan(vit_cross_entropy(NULL, x + 17, 17, 16, 0, 1)));
}

static void test_threads(void **state) {
    static const int threads[] = {2, 3, 8};
    const size_t rows = 2001, n = 133, count = rows * n;
    float *x = check_floats(count), *want = check_floats(count), *got = check_floats(count);
    float *stats = check_floats(2 * rows), *gamma = check_floats(2 * n);
    vit_random r = check_random(5);
    check_fill(x, count, 2, &r);
    check_fill(gamma, 2 * n, 2, &r);
    const vit_norm w = {.dim = n, .eps = 1e-6f, .gamma = gamma, .beta = gamma + n};
    const vit_norm_state s = {stats, stats + rows};
    for (int op = 0; op < 2; op++) {
        for (int i = -1; i < 3; i++) {
            const vit_exec exec = {.kernels = one_thread().kernels,
                                   .threads = i < 0 ? 1 : threads[i]};
            float *y = i < 0 ? want : got;
            if (op == 0) vit_activation_forward(&exec, VIT_GELU, y, x, count);
            if (op == 1) vit_layernorm_forward(&exec, y, &s, x, &w, rows);
            if (i >= 0) assert_memory_equal(got, want, count * sizeof(float));
        }
    }
    float *const all[] = {x, want, got, stats, gamma};
    for (size_t i = 0; i < 5; i++) free(all[i]);
}

/* vit_parallel calls every index once, whatever the threads. */
static void count_task(size_t index, int thread, void *context) {
    ((int *)context)[index]++; /* of its own */
}

static void test_parallel(void **state) {
    static const int threads[] = {1, 2, 3, 7, 100};
    static const size_t counts[] = {0, 1, 2, 5, 64, 301};
    for (size_t t = 0; t < 5; t++) {
        for (size_t c = 0; c < 6; c++) {
            int calls[302] = {0};
            vit_parallel(threads[t], counts[c], count_task, calls);
            for (size_t i = 0; i < 302; i++) assert_int_equal(calls[i], i < counts[c]);
        }
    }
}

/* Inside a team the same, one work after another, and where a task gives out work of its own. */
typedef struct team_test {
    int calls[64], inner[64][16], threads;
} team_test;

static void nested_task(size_t index, int thread, void *context) {
    team_test *t = context;
    assert_true(thread < t->threads);
    t->calls[index]++;
    vit_parallel(3, 16, count_task, t->inner[index]);
}

static void inner_body(void *context) {
    vit_parallel(4, 16, count_task, context);
}

static void team_body(void *context) {
    team_test *t = context;
    for (int round = 0; round < 100; round++) {
        t->threads = 1 + round % 5;
        vit_parallel(t->threads, 64, nested_task, t);
        vit_with_team(3, inner_body, t->inner[0]);
    }
}

static void test_team(void **state) {
    for (int threads = 1; threads <= 8; threads++) {
        team_test t = {0};
        vit_with_team(threads, team_body, &t);
        for (size_t i = 0; i < 64; i++) {
            assert_int_equal(t.calls[i], 100);
            for (size_t j = 0; j < 16; j++) assert_int_equal(t.inner[i][j], i == 0 ? 200 : 100);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),        cmocka_unit_test(test_layernorm),
        cmocka_unit_test(test_embed),         cmocka_unit_test(test_loss),
        cmocka_unit_test(test_loss_extremes), cmocka_unit_test(test_patches),
        cmocka_unit_test(test_nan),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_parallel),      cmocka_unit_test(test_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
