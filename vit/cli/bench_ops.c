/* Matrix products and operators with the shapes that a slice of the network gives them. */
#include "vit/base/arena.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench.h"
#include "vit/ops/activation.h"
#include "vit/ops/attention.h"
#include "vit/ops/gemm.h"
#include "vit/ops/layernorm.h"
#include <stdio.h>

/* Rows that a slice of training has, about. */
#define SLICE_ROWS 136

static float *noise(size_t count) {
    float *values = vit_alloc(count, sizeof *values);
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 1, 0);
    for (size_t i = 0; values && i < count; i++)
        values[i] = (float)(vit_random_uniform(&r) * 2 - 1);
    return values;
}

/* ---- matrix products ---- */

typedef enum form { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, FORMS } form;

typedef struct product {
    vit_exec exec;
    size_t m, n, k;
    float *a, *b, *c;
    form form;
} product;

/* y = x W^T, dx = dy W and dW += dy^T x of a layer of k inputs and n outputs. */
static void multiply(void *context) {
    const product *p = context;
    const vit_epilogue none = vit_epilogue_none(), sum = {.accumulate = 1, .scale = 1};
    switch (p->form) {
    case FORWARD:
        vit_gemm(&p->exec, p->c, p->n, p->m, p->n, p->k, (vit_left){p->a, p->k, 1},
                 vit_right_packed(p->b, p->k), &none);
        break;
    case INPUT_GRADIENT:
        vit_gemm(&p->exec, p->c, p->k, p->m, p->k, p->n, (vit_left){p->a, p->n, 1},
                 vit_right_plain(p->b, p->k), &none);
        break;
    default:
        vit_gemm(&p->exec, p->c, p->k, p->n, p->k, p->m, (vit_left){p->a, 1, p->n},
                 vit_right_plain(p->b, p->k), &sum);
        break;
    }
}

static vit_status measure_layer(const bench *b, const char *layer, size_t rows, size_t in,
                                size_t out, vit_error *error) {
    static const char *const forms[] = {"y = x W^T", "dx = dy W", "dW = dy^T x"};
    const size_t wide = in > out ? in : out, room = wide * (wide > rows ? wide : rows) + 32 * wide;
    product p = {
        {b->kernels, b->threads}, rows, out, in, noise(room), noise(room), noise(room), FORWARD};
    vit_status status = VIT_OK;
    if (!p.a || !p.b || !p.c) status = vit_fail_memory(error, "matrices", 3 * room * sizeof(float));
    for (int i = 0; i < FORMS && status == VIT_OK; i++) {
        bench_line line = {.what = "gemm", .flop = 2. * (double)rows * (double)in * (double)out};
        p.form = (form)i;
        snprintf(line.detail, sizeof line.detail, "%s %s %zux%zux%zu", layer, forms[i], rows, in,
                 out);
        line.seconds = bench_median(multiply, &p);
        bench_print(b, &line);
    }
    vit_free(p.a);
    vit_free(p.b);
    vit_free(p.c);
    return status;
}

vit_status bench_gemm(const bench *b, vit_error *error) {
    const vit_config *c = &b->preset.config;
    const size_t tokens = vit_config_tokens(c), patches = vit_config_patches(c);
    const size_t rows = b->batch * tokens;
    const struct {
        const char *name;
        size_t rows, in, out;
    } layers[] = {{"patch", b->batch * patches, c->patch * c->patch * c->channels, c->dim},
                  {"qkv", rows, c->dim, 3 * c->dim},
                  {"proj", rows, c->dim, c->dim},
                  {"fc1", rows, c->dim, c->mlp},
                  {"fc2", rows, c->mlp, c->dim}};
    vit_status status = VIT_OK;
    const size_t first = c->stem == VIT_STEM_CONV ? 1 : 0; /* no patches there */
    for (size_t i = first; i < sizeof layers / sizeof *layers && status == VIT_OK; i++)
        status =
            measure_layer(b, layers[i].name, layers[i].rows, layers[i].in, layers[i].out, error);
    return status;
}

/* ---- operators ---- */

typedef struct operands {
    vit_exec exec;
    vit_attention_shape shape;
    vit_norm norm;
    vit_norm_state stats;
    vit_norm_gradient norm_gradient;
    size_t rows, mlp;
    float *wide, *d_wide, *narrow, *d_narrow, *p, *scratch;
} operands;

static void attention_forward(void *context) {
    const operands *o = context;
    const size_t d = o->norm.dim;
    vit_attention_forward(&o->exec, o->narrow, o->p, o->wide, o->wide + d, o->wide + 2 * d,
                          &o->shape, o->scratch);
}

static void attention_backward(void *context) {
    const operands *o = context;
    const size_t d = o->norm.dim;
    vit_attention_backward(&o->exec, o->d_wide, o->d_wide + d, o->d_wide + 2 * d, o->narrow, o->p,
                           o->wide, o->wide + d, o->wide + 2 * d, &o->shape, o->scratch);
}

static void layernorm_forward(void *context) {
    const operands *o = context;
    vit_layernorm_forward(&o->exec, o->d_narrow, &o->stats, o->narrow, &o->norm, o->rows);
}

static void layernorm_backward(void *context) {
    const operands *o = context;
    vit_layernorm_backward(&o->exec, o->d_narrow, &o->norm_gradient, o->d_wide, o->narrow,
                           &o->stats, &o->norm, o->rows);
}

static void gelu_forward(void *context) {
    const operands *o = context;
    vit_activation_forward(&o->exec, VIT_GELU, o->d_wide, o->wide, o->rows * o->mlp);
}

static void gelu_backward(void *context) {
    const operands *o = context;
    vit_activation_backward(&o->exec, VIT_GELU, o->d_wide, o->wide, o->wide, o->rows * o->mlp);
}

static void carve_operands(operands *o, const bench *b, vit_arena *arena) {
    const vit_config *c = &b->preset.config;
    const size_t tokens = vit_config_tokens(c), samples = (SLICE_ROWS + tokens - 1) / tokens;
    const size_t d = c->dim, rows = samples * tokens, wide = 3 * d > c->mlp ? 3 * d : c->mlp;
    *o = (operands){.exec = {b->kernels, 1}, .rows = rows, .mlp = c->mlp};
    o->shape = (vit_attention_shape){.batch = samples,
                                     .heads = c->heads,
                                     .head_dim = d / c->heads,
                                     .queries = tokens,
                                     .keys = tokens,
                                     .q_row = 3 * d,
                                     .k_row = 3 * d,
                                     .v_row = 3 * d,
                                     .o_row = d,
                                     .scale = .1f};
    float *gradient = vit_arena_floats(arena, 2 * d);
    o->wide = vit_arena_floats(arena, rows * wide);
    o->d_wide = vit_arena_floats(arena, rows * wide);
    o->narrow = vit_arena_floats(arena, rows * d);
    o->d_narrow = vit_arena_floats(arena, rows * d);
    o->norm = (vit_norm){d, 1e-6f, o->narrow, o->narrow};
    if (gradient) o->norm_gradient = (vit_norm_gradient){gradient, gradient + d};
    o->stats.mean = vit_arena_floats(arena, rows);
    o->stats.rstd = vit_arena_floats(arena, rows);
    o->p = vit_arena_floats(arena, rows * c->heads * vit_padded(tokens));
    o->scratch = vit_arena_floats(arena, vit_attention_scratch(&o->shape, true));
}

static vit_status make_operands(operands *o, const bench *b, vit_arena *arena, vit_error *error) {
    *arena = vit_arena_count();
    carve_operands(o, b, arena);
    const size_t bytes = arena->peak;
    const vit_status status = vit_arena_init(arena, bytes, "operands", error);
    if (status != VIT_OK) return status;
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 2, 0);
    float *values = (float *)(void *)arena->base;
    for (size_t i = 0; i < bytes / sizeof *values; i++)
        values[i] = (float)(vit_random_uniform(&r) * 2 - 1);
    carve_operands(o, b, arena);
    return VIT_OK;
}

/* One slice, one thread: what a thread of a training does between two barriers. */
vit_status bench_ops(const bench *b, vit_error *error) {
    static const struct {
        const char *name;
        bench_run *run;
        int products; /* T x T x head_dim products of attention */
    } runs[] = {{"attention", attention_forward, 2}, {"attention backward", attention_backward, 4},
                {"layernorm", layernorm_forward, 0}, {"layernorm backward", layernorm_backward, 0},
                {"gelu", gelu_forward, 0},           {"gelu backward", gelu_backward, 0}};
    operands o;
    vit_arena arena;
    const vit_status status = make_operands(&o, b, &arena, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const double products = 2. * runs[i].products * (double)(o.rows * o.shape.keys);
        bench_line line = {.what = runs[i].name, .flop = products * (double)o.norm.dim};
        snprintf(line.detail, sizeof line.detail, "%zu rows of %zu", o.rows,
                 i < 4 ? o.norm.dim : o.mlp);
        line.seconds = bench_median(runs[i].run, &o);
        bench_print(b, &line);
    }
    vit_arena_free(&arena);
    return VIT_OK;
}
