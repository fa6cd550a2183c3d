/* The operators of other networks than the plain ViT: convolutions, ReLU, mean pooling, tokens
 * without a class token, fixed positions; against plain references in double. */
#include "tests/support/problem.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/model/fixed_positions.h"
#include "vit/ops/activation.h"
#include "vit/ops/conv.h"
#include "vit/ops/embed.h"
#include "vit/ops/pool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1, 2, 3, 5, 17, 33};
#define SIZES (sizeof sizes / sizeof *sizes)

/* ---- convolution: theta = x, W, b ---- */

typedef struct conv_case {
    vit_conv_shape s;
    size_t out, out_height, out_width;
    size_t weight, bias; /* where they begin in theta */
    problem *p;
} conv_case;

/* Calls visit with every product of the convolution: places in theta of the pixel and the weight,
 * place of the output. */
static void each_product(const conv_case *c,
                         void (*visit)(const conv_case *c, size_t x, size_t w, size_t y,
                                       double *out, const double *in),
                         double *out, const double *in) {
    const vit_conv_shape *s = &c->s;
    const size_t pixels = c->out_height * c->out_width;
    for (size_t y = 0; y < s->batch * pixels * c->out; y++) {
        const size_t o = y % c->out, b = y / c->out / pixels, at = y / c->out % pixels;
        for (size_t k = 0; k < 9 * s->channels; k++) {
            const bool cct = s->kind == VIT_CONV_TOKENIZER;
            const size_t stride = cct ? 1 : 2, in_kernel = cct ? k / s->channels : k % 9;
            const size_t channel = cct ? k % s->channels : k / 9;
            const size_t row = stride * (at / c->out_width) + in_kernel / 3;
            const size_t column = stride * (at % c->out_width) + in_kernel % 3; /* 1 too large */
            if (row < 1 || row > s->height || column < 1 || column > s->width) continue;
            const size_t pixel = (b * s->height + row - 1) * s->width + column - 1;
            visit(c, pixel * s->channels + channel, c->weight + o * 9 * s->channels + k, y, out,
                  in);
        }
    }
}

static void add_product(const conv_case *c, size_t x, size_t w, size_t y, double *out,
                        const double *theta) {
    out[y] += theta[x] * theta[w];
}

/* Chains: y over 9 C products and the bias; dW and db over the output pixels, from what was there;
 * dx over `out` products, of which up to nine are added. */
static void add_bounds(const conv_case *c, size_t x, size_t w, size_t y, double *out,
                       const double *theta) {
    const problem *p = c->p;
    const double g = fabs((double)p->dy[y]);
    const size_t rows = c->s.batch * c->out_height * c->out_width;
    p->want_bound[y] += check_gamma(9 * c->s.channels + 1) * fabs(theta[x] * theta[w]);
    p->bound[x] += check_gamma(c->out + 9) * g * fabs(theta[w]);
    p->bound[w] += check_gamma(rows) * g * fabs(theta[x]);
}

static void conv_forward(double *y, const double *theta, const conv_case *c) {
    for (size_t i = 0; i < c->p->outputs; i++) y[i] = theta[c->bias + i % c->out];
    each_product(c, add_product, y, theta);
}

static double conv_loss(const double *theta, const void *context) {
    const conv_case *c = context;
    double *y = check_doubles(c->p->outputs);
    conv_forward(y, theta, c);
    const double loss = weighted(y, c->p->dy, c->p->outputs);
    free(y);
    return loss;
}

static void conv_bounds(const conv_case *c) {
    const problem *p = c->p;
    const size_t rows = p->outputs / c->out;
    for (size_t i = c->weight; i < p->n; i++)
        p->bound[i] = check_gamma(rows) * fabs((double)p->before[i]);
    for (size_t y = 0; y < p->outputs; y++) {
        const double bias = fabs(p->exact[c->bias + y % c->out]);
        p->want_bound[y] = check_gamma(9 * c->s.channels + 1) * bias;
        p->bound[c->bias + y % c->out] += check_gamma(rows) * fabs((double)p->dy[y]);
    }
    each_product(c, add_bounds, NULL, p->exact);
}

static void check_conv(const vit_conv_shape *s, size_t out) {
    const vit_exec exec = one_thread();
    const size_t in = 9 * s->channels, weight = s->batch * s->height * s->width * s->channels;
    const size_t bias = weight + out * in, outputs = s->batch * vit_conv_pixels(s) * out;
    problem p = problem_new(bias + out, outputs, (uint32_t)(s->height * 40 + s->width));
    const size_t stride = s->kind == VIT_CONV_TOKENIZER ? 1 : 2;
    const conv_case c = {
        *s, out, (s->height - 1) / stride + 1, (s->width - 1) / stride + 1, weight, bias, &p};
    float *columns = check_floats(2 * vit_conv_columns(s));
    float *packed = check_floats(vit_packed_size(out, in));
    const vit_linear w = {
        .in = in, .out = out, .weight = p.theta + weight, .bias = p.theta + bias, .packed = packed};
    const vit_linear_gradient d = {p.gradient + weight, p.gradient + bias, false};
    assert_int_equal(vit_conv_pixels(s), c.out_height * c.out_width);
    vit_pack_transposed(&exec, packed, w.weight, out, in, in);
    problem_add_to(&p, weight);
    conv_bounds(&c);
    conv_forward(p.want, p.exact, &c);
    vit_conv_forward(&exec, p.y, p.theta, &w, s, columns);
    check_forward("convolution y", &p);
    vit_conv_backward(&exec, p.gradient, &d, p.dy, p.theta, &w, s, columns,
                      columns + vit_conv_columns(s));
    check_backward("convolution", &p, conv_loss, &c);
    free(columns);
    free(packed);
    problem_free(&p);
}

static void test_conv(void **state) {
    for (size_t height = 1; height <= 5; height++)
        for (size_t width = 1; width <= 6; width++)
            for (size_t channels = 1; channels <= 3; channels++)
                for (int kind = 0; kind < 2; kind++)
                    check_conv(&(vit_conv_shape){1 + width % 3, height, width, channels,
                                                 (vit_conv_kind)kind},
                               height + 2);
    check_conv(&(vit_conv_shape){2, 16, 10, 33, VIT_CONV_STEM}, 40);
    check_conv(&(vit_conv_shape){2, 8, 10, 33, VIT_CONV_TOKENIZER}, 40);
}

/* A convolution has the bytes of one call a picture, whether columns are made picture by picture or
 * several at a time, the last fewer; and threads change nothing. */
static void check_conv_portions(const vit_conv_shape *s, size_t together) {
    vit_conv_shape one = *s;
    one.batch = 1;
    const size_t in = 9 * s->channels, out = 32, n = s->batch;
    const size_t pixels = s->height * s->width * s->channels, outputs = vit_conv_pixels(s) * out;
    float *x = check_floats(n * pixels), *dy = check_floats(n * outputs);
    float *weight = check_floats(out * in), *packed = check_floats(vit_packed_size(out, in));
    float *columns = check_floats(2 * vit_conv_columns(s));
    float *y = check_floats(2 * n * outputs), *dx = check_floats(2 * n * pixels);
    float *d_weight = check_floats(2 * out * in);
    assert_int_equal(vit_conv_columns(s), together * vit_conv_columns(&one));
    vit_random r = check_random(8);
    check_fill(x, n * pixels, 1, &r);
    check_fill(dy, n * outputs, 1, &r);
    check_fill(weight, out * in, 1, &r);
    const vit_exec single = one_thread();
    vit_pack_transposed(&single, packed, weight, out, in, in);
    const vit_linear w = {.in = in, .out = out, .weight = weight, .packed = packed};
    float *d_columns = columns + vit_conv_columns(s);
    vit_linear_gradient d = {d_weight, NULL, true};
    for (size_t b = 0; b < n; b++, d.begins = false) {
        vit_conv_forward(&single, y + b * outputs, x + b * pixels, &w, &one, columns);
        vit_conv_backward(&single, dx + b * pixels, &d, dy + b * outputs, x + b * pixels, &w, &one,
                          columns, d_columns);
    }
    d = (vit_linear_gradient){d_weight + out * in, NULL, true};
    float *room = check_floats(4 * VIT_GEMM_ROOM);
    for (int threads = 1; threads <= 4; threads++) {
        const vit_exec exec = {.kernels = single.kernels, .threads = threads, .room = room};
        vit_conv_forward(&exec, y + n * outputs, x, &w, s, columns);
        vit_conv_backward(&exec, dx + n * pixels, &d, dy, x, &w, s, columns, d_columns);
        assert_memory_equal(y, y + n * outputs, n * outputs * sizeof *y);
        assert_memory_equal(dx, dx + n * pixels, n * pixels * sizeof *dx);
        assert_memory_equal(d_weight, d.weight, out * in * sizeof *d_weight);
    }
    float *const all[] = {x, dy, weight, packed, columns, y, dx, d_weight, room};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void test_conv_portions(void **state) {
    check_conv_portions(&(vit_conv_shape){4, 40, 36, 16, VIT_CONV_TOKENIZER}, 1);
    check_conv_portions(&(vit_conv_shape){5, 12, 16, 16, VIT_CONV_TOKENIZER}, 2);
    check_conv_portions(&(vit_conv_shape){4, 40, 36, 16, VIT_CONV_STEM}, 1);
    check_conv_portions(&(vit_conv_shape){5, 24, 20, 16, VIT_CONV_STEM}, 3);
}

/* ---- ReLU and max pooling ---- */

/* A value of the window and nothing larger; the gradient goes to its first place. */
static void check_max(vit_cpu cpu, size_t height, size_t width, size_t channels) {
    const vit_exec exec = {.kernels = vit_kernels_choose(cpu), .threads = 1};
    const vit_max_shape s = {2, height, width, channels};
    const size_t n = 2 * height * width * channels, outputs = n / 4;
    float *x = check_floats(n), *y = check_floats(outputs), *dx = check_floats(n);
    float *want = check_floats(n), *dy = check_floats(outputs);
    uint8_t *place = calloc(outputs, 1);
    vit_random r = check_random(5);
    for (size_t i = 0; i < n; i++) x[i] = (float)vit_random_below(&r, 7) - 3; /* with equals */
    check_fill(dy, outputs, 1, &r);
    vit_max_forward(&exec, y, place, x, &s);
    vit_max_backward(&exec, dx, dy, place, &s);
    memset(want, 0, n * sizeof *want);
    for (size_t i = 0; i < outputs; i++) {
        const size_t c = i % channels, at_x = i / channels % (width / 2);
        const size_t at_y = i / channels / (width / 2) % (height / 2), b = i / (outputs / 2);
        float best = 0;
        size_t from = n;
        for (size_t k = 0; k < 9; k++) {
            const size_t row = 2 * at_y + k / 3, column = 2 * at_x + k % 3; /* one too large */
            if (row < 1 || row > height || column < 1 || column > width) continue;
            const size_t pixel = (b * height + row - 1) * width + column - 1;
            if (x[pixel * channels + c] > best) best = x[from = pixel * channels + c];
        }
        assert_memory_equal(&y[i], &best, sizeof best);
        if (from < n) want[from] += dy[i];
    }
    assert_memory_equal(dx, want, n * sizeof *dx);
    x[n / 2 - 1] = NAN;
    vit_max_forward(&exec, y, NULL, x, &s);
    assert_true(isnan(y[outputs / 2 - 1]));
    float *const all[] = {x, y, dx, want, dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(place);
}

static void test_max(void **state) {
    static const vit_cpu cpus[] = {VIT_CPU_SCALAR, VIT_CPU_NEON, VIT_CPU_AVX2, VIT_CPU_AVX512};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        check_max(cpus[i], 2, 2, 1);
        check_max(cpus[i], 4, 6, 3);
        check_max(cpus[i], 6, 4, 16);
        check_max(cpus[i], 8, 8, 37);
    }
}

/* ---- ReLU ---- */

static void test_relu(void **state) {
    const vit_exec exec = one_thread();
    const float x[] = {-1, 0, -0.0f, 2, NAN, INFINITY, -INFINITY, 0x1p-149f};
    const float dy[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float want[] = {0, 0, 0, 2, NAN, INFINITY, 0, 0x1p-149f};
    const float slope[] = {0, 0, 0, 4, 0, 6, 0, 8};
    float y[8], dx[8];
    vit_activation_forward(&exec, VIT_RELU, y, x, 8);
    vit_activation_backward(&exec, VIT_RELU, dx, NULL, dy, x, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_true(isnan(want[i]) ? isnan(y[i]) : fabsf(y[i]) >= want[i] && y[i] <= want[i]);
        assert_true(dx[i] >= slope[i] && dx[i] <= slope[i]);
    }
}

/* ---- mean pooling: theta = x ---- */

typedef struct mean_case {
    size_t batch, tokens, dim;
    problem *p;
} mean_case;

static void mean_forward(double *y, const double *theta, const mean_case *c) {
    memset(y, 0, c->batch * c->dim * sizeof *y);
    for (size_t i = 0; i < c->batch * c->tokens * c->dim; i++)
        y[i / c->dim / c->tokens * c->dim + i % c->dim] += theta[i] / (double)c->tokens;
}

static double mean_loss(const double *theta, const void *context) {
    const mean_case *c = context;
    double *y = check_doubles(c->p->outputs);
    mean_forward(y, theta, c);
    const double loss = weighted(y, c->p->dy, c->p->outputs);
    free(y);
    return loss;
}

/* A chain over the tokens, 1 / tokens and a product. */
static void check_mean(size_t batch, size_t tokens, size_t dim) {
    const vit_exec exec = one_thread();
    problem p = problem_new(batch * tokens * dim, batch * dim, (uint32_t)(tokens * 50 + dim));
    const mean_case c = {batch, tokens, dim, &p};
    const double share = 1 / (double)tokens;
    for (size_t i = 0; i < p.n; i++) {
        const size_t y = i / dim / tokens * dim + i % dim;
        p.want_bound[y] += check_gamma(tokens + 2) * fabs(p.exact[i]) * share;
        p.bound[i] = check_gamma(2) * fabs((double)p.dy[y]) * share;
    }
    mean_forward(p.want, p.exact, &c);
    const vit_mean_shape shape = {batch, tokens, 0, tokens, dim, dim};
    vit_mean_forward(&exec, p.y, p.theta, &shape);
    check_forward("mean", &p);
    vit_mean_backward(&exec, p.gradient, p.dy, &shape);
    check_backward("mean", &p, mean_loss, &c);
    problem_free(&p);
}

static void test_mean(void **state) {
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < SIZES; b++)
            for (size_t c = 0; c < SIZES; c++) check_mean(sizes[a], sizes[b], sizes[c]);
}

/* ---- tokens without a class token, without learned positions ---- */

static void test_embed(void **state) {
    const vit_exec exec = one_thread();
    const float embedded[] = {1, 2, 3, 4, 5, 6, 7, 8}, positions[] = {10, 20, 30, 40};
    const float want[] = {11, 22, 33, 44, 15, 26, 37, 48};
    float z[8], back[8], d_positions[4] = {0, 0, 0, 0};
    const vit_embed_shape shape = {2, 2, 2, {0}, true};
    const float *const none[VIT_EMBED_PREFIXES] = {NULL};
    float *const nothing[VIT_EMBED_PREFIXES] = {NULL};
    vit_embed_forward(z, embedded, none, positions, &shape);
    assert_memory_equal(z, want, sizeof want);
    const float sum[] = {26, 48, 70, 92};
    vit_embed_backward(&exec, back, nothing, d_positions, z, &shape);
    assert_memory_equal(back, z, sizeof z);
    assert_memory_equal(d_positions, sum, sizeof sum);
    vit_embed_backward(&exec, back, nothing, NULL, z, &shape);
    assert_memory_equal(d_positions, sum, sizeof sum);
}

/* ---- fixed positions ---- */

static vit_config with_positions(vit_position_kind kind, vit_pool pool, size_t dim) {
    vit_config c = vit_config_default();
    c.height = 6;
    c.width = 15;
    c.patch = 3;
    c.dim = dim;
    c.positions = kind;
    c.pool = pool;
    c.class_token = pool == VIT_POOL_CLASS;
    return c;
}

static float *positions_of(const vit_config *c) {
    float *table;
    assert_int_equal(vit_positions_new(&table, c, NULL), VIT_OK);
    assert_non_null(table);
    return table;
}

/* As the lecture writes it, to the last bit but one. */
static void check_sinusoidal(vit_pool pool, size_t dim) {
    const vit_config c = with_positions(VIT_POSITIONS_SINUSOIDAL, pool, dim);
    float *table = positions_of(&c);
    for (size_t pos = 0; pos < vit_config_tokens(&c); pos++) {
        for (size_t j = 0; j < dim; j++) {
            const double angle = (double)pos / pow(10000, (double)(j / 2 * 2) / (double)dim);
            const double want = j % 2 ? cos(angle) : sin(angle);
            assert_true(fabs((double)table[pos * dim + j] - want) <= U * fabs(want) + 1e-15);
        }
    }
    vit_free(table);
}

/* Row 1, column 3 of 2 x 5 patches, after the class token where there is one. */
static void check_sincos2d(vit_pool pool) {
    const vit_config c = with_positions(VIT_POSITIONS_SINCOS2D, pool, 8);
    const size_t first = vit_config_tokens(&c) - 10;
    const double want[] = {sin(1), sin(.01), cos(1), cos(.01), sin(3), sin(.03), cos(3), cos(.03)};
    float *table = positions_of(&c);
    for (size_t j = 0; j < 8; j++) {
        assert_true(fabs((double)table[(first + 8) * 8 + j] - want[j]) <= U);
        if (first) assert_true(fabsf(table[j]) <= 0);
    }
    vit_free(table);
}

static void test_positions(void **state) {
    static const size_t dims[] = {1, 2, 7, 16, 64};
    for (size_t i = 0; i < 5; i++) {
        check_sinusoidal(VIT_POOL_CLASS, dims[i]);
        check_sinusoidal(VIT_POOL_MEAN, dims[i]);
    }
    check_sincos2d(VIT_POOL_CLASS);
    check_sincos2d(VIT_POOL_MEAN);
    const vit_config learned = with_positions(VIT_POSITIONS_LEARNED, VIT_POOL_CLASS, 8);
    float *table;
    assert_int_equal(vit_positions_new(&table, &learned, NULL), VIT_OK);
    assert_null(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),      cmocka_unit_test(test_conv_portions),
        cmocka_unit_test(test_max),       cmocka_unit_test(test_relu),
        cmocka_unit_test(test_mean),      cmocka_unit_test(test_embed),
        cmocka_unit_test(test_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
