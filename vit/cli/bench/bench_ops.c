/* The operators of a network, with the shapes of a slice of a training batch, on one thread: what a
 * thread of a training does between two barriers. And attention for one picture on two threads. */
#include "vit/base/arena.h"
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/ops/activation.h"
#include "vit/ops/attention.h"
#include "vit/ops/embed.h"
#include "vit/ops/gemm/gemm.h"
#include "vit/ops/layernorm.h"
#include "vit/ops/linear.h"
#include "vit/ops/loss.h"
#include "vit/ops/patch.h"
#include "vit/train/step/lanes.h"
#include <stdio.h>

enum { THREADS = 2 }; /* of attention for one picture */

typedef struct operands {
    const vit_config *config;
    vit_exec exec;
    vit_attention_shape attention;
    vit_norm norm;
    vit_norm_state stats;
    vit_norm_gradient norm_gradient;
    vit_linear linear; /* the layer that is measured */
    vit_linear_gradient linear_gradient;
    size_t samples, rows; /* pictures and tokens of the slice */
    size_t linear_rows;
    float *x, *y, *d_x, *d_y, *residual, *p, *scratch, *weight, *d_weight, *bias, *d_bias, *packed;
} operands;

/* ---- the operators, as bench_run ---- */

static void patch_extract(void *context) {
    const operands *o = context;
    const vit_config *c = o->config;
    const vit_patch_shape s = {c->height, c->width, c->channels, c->patch, VIT_PATCH_CONV};
    const size_t values = c->height * c->width * c->channels;
    for (size_t i = 0; i < o->samples; i++)
        vit_patch_extract(o->y + i * values, o->x + i * values, &s);
}

/* Patches and a class token. */
static vit_embed_shape embed_shape(const operands *o) {
    return (vit_embed_shape){.batch = o->samples,
                             .dim = o->config->dim,
                             .patches = vit_config_patches(o->config),
                             .prefix = {1},
                             .prefix_positions = true};
}

static void embed_forward(void *context) {
    const operands *o = context;
    const vit_embed_shape s = embed_shape(o);
    const float *const prefix[VIT_EMBED_PREFIXES] = {o->bias};
    vit_embed_forward(o->y, o->x, prefix, o->residual, &s);
}

static void embed_backward(void *context) {
    const operands *o = context;
    const vit_embed_shape s = embed_shape(o);
    float *const d_prefix[VIT_EMBED_PREFIXES] = {o->d_bias};
    vit_embed_backward(&o->exec, o->d_x, d_prefix, o->d_y, o->y, &s);
}

static void layernorm_forward(void *context) {
    const operands *o = context;
    vit_layernorm_forward(&o->exec, o->y, &o->stats, o->x, &o->norm, o->rows);
}

static void layernorm_recompute(void *context) {
    const operands *o = context;
    vit_layernorm_recompute(&o->exec, o->y, &o->stats, o->x, &o->norm, o->rows);
}

static void layernorm_backward(void *context) {
    const operands *o = context;
    vit_layernorm_backward(&o->exec, o->d_x, &o->norm_gradient, o->d_y, o->x, &o->stats, &o->norm,
                           o->rows);
}

static void linear_forward(void *context) {
    const operands *o = context;
    vit_linear_forward(&o->exec, o->y, o->x, &o->linear, NULL, o->linear_rows);
}

static void linear_backward(void *context) {
    const operands *o = context;
    vit_linear_backward(&o->exec, o->d_x, &o->linear_gradient, o->d_y, o->x, &o->linear,
                        o->linear_rows);
}

static void attention_forward(void *context) {
    const operands *o = context;
    const size_t d = o->config->dim;
    vit_attention_forward(&o->exec, o->y, o->p, o->x, o->x + d, o->x + 2 * d, &o->attention,
                          o->scratch);
}

/* As in an answer, which does not keep the weights of attention. */
static void attention_answer(void *context) {
    const operands *o = context;
    const size_t d = o->config->dim;
    vit_attention_forward(&o->exec, o->y, NULL, o->x, o->x + d, o->x + 2 * d, &o->attention,
                          o->scratch);
}

static void attention_backward(void *context) {
    const operands *o = context;
    const size_t d = o->config->dim;
    vit_attention_backward(&o->exec, o->d_x, o->d_x + d, o->d_x + 2 * d, o->d_y, o->p, o->x,
                           o->x + d, o->x + 2 * d, &o->attention, o->scratch, NULL);
}

static void gelu_forward(void *context) {
    const operands *o = context;
    vit_activation_forward(&o->exec, VIT_GELU, o->y, o->x, o->rows * o->config->mlp);
}

static void gelu_backward(void *context) {
    const operands *o = context;
    vit_activation_backward(&o->exec, VIT_GELU, o->d_x, o->y, o->d_y, o->x,
                            o->rows * o->config->mlp);
}

static void loss(void *context) {
    const operands *o = context;
    const size_t classes = o->config->classes;
    for (size_t i = 0; i < o->samples; i++)
        vit_cross_entropy(o->d_y + i * classes, o->y + i * classes, classes, i % classes, .1, .01);
}

/* ---- memory ---- */

static void carve(operands *o, vit_arena *arena) {
    const vit_config *c = o->config;
    const size_t d = c->dim, inputs = c->patch * c->patch * c->channels;
    const size_t wide = vit_max(vit_max(3 * d, c->mlp), vit_max(inputs, c->classes));
    const size_t values = vit_max(o->rows * wide, o->samples * c->height * c->width * c->channels);
    float **arrays[] = {&o->x, &o->y, &o->d_x, &o->d_y, &o->residual};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = vit_arena_floats(arena, values);
    o->exec.room = vit_arena_floats(arena, THREADS * VIT_GEMM_ROOM);
    o->weight = vit_arena_floats(arena, wide * wide);
    o->d_weight = vit_arena_floats(arena, wide * wide);
    o->packed = vit_arena_floats(arena, vit_packed_size(wide, wide));
    o->bias = vit_arena_floats(arena, wide);
    o->d_bias = vit_arena_floats(arena, wide);
    o->stats.mean = vit_arena_floats(arena, o->rows);
    o->stats.rstd = vit_arena_floats(arena, o->rows);
    o->p = vit_arena_floats(arena, o->rows * c->heads * vit_padded(vit_config_tokens(c)));
    o->scratch = vit_arena_floats(arena, THREADS * vit_attention_scratch(&o->attention, true));
    o->norm = (vit_norm){.dim = d, .eps = 1e-6f, .gamma = o->weight, .beta = o->bias};
    o->norm_gradient = (vit_norm_gradient){o->d_weight, o->d_bias};
}

static vit_status make_operands(operands *o, const bench *b, vit_arena *arena, vit_error *error) {
    const vit_config *c = &b->preset.config;
    const size_t tokens = vit_config_tokens(c), d = c->dim;
    *o = (operands){.config = c, .exec = {.kernels = b->kernels, .threads = 1}};
    vit_table table;
    vit_status status = vit_table_new(&table, c, error);
    if (status != VIT_OK) return status;
    o->samples = vit_lanes_slice(c, &table, b->batch, 0);
    vit_table_free(&table);
    o->rows = o->samples * tokens;
    o->attention = (vit_attention_shape){.batch = o->samples,
                                         .heads = c->heads,
                                         .head_dim = d / c->heads,
                                         .queries = tokens,
                                         .keys = tokens,
                                         .q_row = 3 * d,
                                         .k_row = 3 * d,
                                         .v_row = 3 * d,
                                         .o_row = d,
                                         .scale = .1f};
    *arena = vit_arena_count();
    carve(o, arena);
    const size_t count = arena->peak / sizeof(float);
    status = vit_arena_init(arena, arena->peak, "operands", error);
    if (status != VIT_OK) return status;
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 2, 0);
    float *values = vit_arena_floats(arena, count);
    for (size_t i = 0; i < count; i++) values[i] = (float)(vit_random_uniform(&r) * 2 - 1);
    vit_arena_reset(arena);
    carve(o, arena);
    return VIT_OK;
}

/* ---- measurements ---- */

/* multiply_adds and floats: of one run; a float that is both read and written counts twice. */
static void measure(const bench *b, operands *o, const char *what, const char *shape,
                    bench_run *run, double multiply_adds, double floats) {
    bench_line line = {.what = what, .flop = 2 * multiply_adds, .bytes = 4 * floats};
    snprintf(line.detail, sizeof line.detail, "%s", shape);
    line.seconds = bench_median(run, o);
    bench_print(b, &line);
}

typedef struct layer {
    const char *name, *backward;
    size_t rows, in, out;
} layer;

/* Forward and backward, where dW is both read and written, and the first layer has no dx. */
static void measure_layer(const bench *b, operands *o, const layer *l, bool first) {
    const double in = (double)(l->rows * l->in), out = (double)(l->rows * l->out);
    const double weight = (double)(l->in * l->out), products = (double)l->rows * weight;
    float *const d_x = o->d_x;
    char shape[64];
    snprintf(shape, sizeof shape, "%zux%zux%zu", l->rows, l->in, l->out);
    o->linear = (vit_linear){
        .in = l->in, .out = l->out, .weight = o->weight, .bias = o->bias, .packed = o->packed};
    o->linear_gradient = (vit_linear_gradient){o->d_weight, o->d_bias, false};
    o->linear_rows = l->rows;
    measure(b, o, l->name, shape, linear_forward, products, in + weight + out);
    if (first) o->d_x = NULL;
    measure(b, o, l->backward, shape, linear_backward, (first ? 1 : 2) * products,
            in + out + 2 * weight + (first ? 0 : in + weight));
    o->d_x = d_x;
}

static void measure_embedding(const bench *b, operands *o) {
    const vit_config *c = o->config;
    const size_t patches = vit_config_patches(c), inputs = c->patch * c->patch * c->channels;
    const layer embedding = {"patch embedding", "patch embedding backward", o->samples * patches,
                             inputs, c->dim};
    const double embedded = (double)(o->samples * patches * c->dim);
    const double tokens = (double)(o->rows * c->dim), positions = (double)((patches + 1) * c->dim);
    char shape[64];
    if (vit_config_convs(c) > 0 || vit_config_prefix(c) != 1) return;
    snprintf(shape, sizeof shape, "%zu of %zux%zux%zu", o->samples, c->height, c->width,
             c->channels);
    measure(b, o, "patches", shape, patch_extract, 0, 2. * (double)(o->samples * patches * inputs));
    measure_layer(b, o, &embedding, true);
    snprintf(shape, sizeof shape, "%zu of %zux%zu", o->samples, patches, c->dim);
    measure(b, o, "tokens", shape, embed_forward, 0, embedded + positions + tokens);
    measure(b, o, "tokens backward", shape, embed_backward, 0, tokens + embedded + 2 * positions);
}

static void measure_attention(const bench *b, operands *o) {
    const vit_attention_shape *s = &o->attention;
    const double qkv = (double)(o->rows * 3 * o->config->dim), out = qkv / 3;
    const double p = (double)(o->rows * s->heads * vit_padded(s->keys));
    const double product = out * (double)s->keys; /* Q K^T, or P V, of all heads */
    char shape[64];
    snprintf(shape, sizeof shape, "%zux%zu heads of %zux%zu", s->batch, s->heads, s->queries,
             s->head_dim);
    measure(b, o, "attention", shape, attention_forward, 2 * product, qkv + p + out);
    measure(b, o, "attention backward", shape, attention_backward, 4 * product,
            qkv + p + out + qkv);
}

static void measure_rows(const bench *b, operands *o) {
    const double narrow = (double)(o->rows * o->config->dim);
    const double wide = (double)(o->rows * o->config->mlp);
    char shape[64];
    snprintf(shape, sizeof shape, "%zu rows of %zu", o->rows, o->config->dim);
    measure(b, o, "layernorm", shape, layernorm_forward, 0, 2 * narrow);
    measure(b, o, "layernorm recompute", shape, layernorm_recompute, 0, 2 * narrow);
    measure(b, o, "layernorm backward", shape, layernorm_backward, 0, 4 * narrow);
    snprintf(shape, sizeof shape, "%zu rows of %zu", o->rows, o->config->mlp);
    measure(b, o, "gelu", shape, gelu_forward, 0, 2 * wide);
    measure(b, o, "gelu backward", shape, gelu_backward, 0, 4 * wide);
}

/* ---- attention for one picture: its heads on two threads ---- */

#define TURNS 10
#define TURN_SECONDS .1

typedef struct turn {
    bench_run *run;
    operands *o;
    double best; /* seconds */
} turn;

/* The fastest run counts: of two threads each needs a processor at the same time, which another
 * program may have. */
static void take_turn(void *context) {
    turn *t = context;
    const double start = vit_clock();
    while (vit_clock() - start < TURN_SECONDS) {
        const double before = vit_clock();
        t->run(t->o);
        const double seconds = vit_clock() - before;
        if (t->best == 0 || seconds < t->best) t->best = seconds;
    }
}

static void do_nothing(size_t index, int thread, void *context) {
    (void)index;
    (void)thread;
    (void)context;
}

/* What it takes to hand work to a thread and to wait for it. */
static void hand_over(void *context) {
    vit_parallel(THREADS, THREADS, do_nothing, context);
}

static vit_status measure_heads(const bench *b, vit_error *error) {
    bench one = *b;
    operands o;
    vit_arena arena;
    one.batch = 1;
    const vit_status status = make_operands(&o, &one, &arena, error);
    if (status != VIT_OK) return status;
    const vit_attention_shape *s = &o.attention;
    const double multiply_adds = 2. * (double)(s->heads * s->queries * s->keys * s->head_dim);
    turn alone = {attention_answer, &o, 0}, both = alone, hand = {hand_over, NULL, 0};
    for (int i = 0; i < TURNS; i++) {
        o.exec.threads = 1;
        take_turn(&alone);
        o.exec.threads = THREADS;
        vit_with_team(THREADS, take_turn, &both);
        vit_with_team(THREADS, take_turn, &hand);
    }
    const turn *const turns[] = {&alone, &both};
    for (int i = 0; i < 2; i++) {
        bench_line line = {.what = i == 0 ? "attention, one picture" : "its heads on two threads",
                           .flop = 2 * multiply_adds,
                           .seconds = turns[i]->best};
        snprintf(line.detail, sizeof line.detail, "%zu heads of %zux%zu", s->heads, s->queries,
                 s->head_dim);
        bench_print(b, &line);
    }
    bench_print(b, &(bench_line){.what = "work handed over", .seconds = hand.best});
    vit_arena_free(&arena);
    return VIT_OK;
}

vit_status bench_ops(const bench *b, vit_error *error) {
    operands o;
    vit_arena arena;
    vit_status status = make_operands(&o, b, &arena, error);
    if (status != VIT_OK) return status;
    const vit_config *c = o.config;
    const layer layers[] = {{"qkv", "qkv backward", o.rows, c->dim, 3 * c->dim},
                            {"proj", "proj backward", o.rows, c->dim, c->dim},
                            {"fc1", "fc1 backward", o.rows, c->dim, c->mlp},
                            {"fc2", "fc2 backward", o.rows, c->mlp, c->dim},
                            {"head", "head backward", o.samples, c->dim, c->classes}};
    char shape[64];
    measure_embedding(b, &o);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        measure_layer(b, &o, &layers[i], false);
    measure_attention(b, &o);
    measure_rows(b, &o);
    snprintf(shape, sizeof shape, "%zu of %zu classes", o.samples, c->classes);
    measure(b, &o, "loss", shape, loss, 0, 2. * (double)(o.samples * c->classes));
    vit_arena_free(&arena);
    status = measure_heads(b, error);
    return status == VIT_OK ? bench_optimiser(b, error) : status;
}
