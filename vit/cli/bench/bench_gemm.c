/* The network's matrix products, forward and backward, with all threads. */
#include "vit/base/random.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/ops/gemm/gemm.h"
#include <stdio.h>
#include <stdlib.h>

#define TURNS 5
#define SECONDS_A_TURN 0.4

typedef enum form { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, FORMS } form;

typedef struct product {
    vit_exec exec;
    size_t m, n, k;
    float *a, *b, *c;
    form form;
} product;

/* y = x W^T, dx = dy W or dW += dy^T x of a layer of k inputs and n outputs. For dx, W is plain in
 * f32, and converted packed as a training packs it once a step. */
static void multiply(void *context) {
    const product *p = context;
    const vit_epilogue none = vit_epilogue_none(), sum = {.accumulate = 1, .scale = 1};
    const bool packs = vit_precisions[p->exec.precision].converts;
    switch (p->form) {
    case FORWARD:
        vit_gemm(&p->exec, p->c, p->n, p->m, p->n, p->k, (vit_operand_a){p->a, p->k, 1},
                 vit_b_packed(p->b, vit_words(p->exec.precision, p->k)), &none);
        break;
    case INPUT_GRADIENT:
        vit_gemm(&p->exec, p->c, p->k, p->m, p->k, p->n, (vit_operand_a){p->a, p->n, 1},
                 packs ? vit_b_packed(p->b, vit_words(p->exec.precision, p->n))
                       : vit_b_plain(p->b, p->k),
                 &none);
        break;
    case WEIGHT_GRADIENT:
        vit_gemm(&p->exec, p->c, p->k, p->n, p->k, p->m, (vit_operand_a){p->a, 1, p->n},
                 vit_b_plain(p->b, p->k), &sum);
        break;
    case FORMS:
        break;
    }
}

/* The peak and the time of a product, measured one after the other. */
typedef struct turn {
    double peak, seconds;
} turn;

static int by_share(const void *a, const void *b) {
    const turn *x = a, *y = b;
    const double p = x->peak * x->seconds, q = y->peak * y->seconds;
    return (p > q) - (p < q);
}

/* The turn whose share of the peak is the median: other programs come and go. */
static turn take_turns(const bench *b, product *p) {
    turn turns[TURNS];
    for (size_t i = 0; i < TURNS; i++) {
        turns[i].peak = bench_peak(b->kernels->cpu, b->precision, b->threads);
        turns[i].seconds = bench_median_within(multiply, p, SECONDS_A_TURN);
    }
    qsort(turns, TURNS, sizeof *turns, by_share);
    return turns[TURNS / 2];
}

static vit_status measure_layer(const bench *b, const char *layer, size_t rows, size_t in,
                                size_t out, vit_error *error) {
    static const char *const forms[] = {"y = x W^T", "dx = dy W", "dW = dy^T x"};
    const size_t wide = vit_max(in, out), room = wide * vit_max(wide, rows) + 32 * wide;
    const size_t packing = (size_t)b->threads * VIT_GEMM_ROOM, all = packing + 3 * room;
    /* One block, as in a session and a training: large blocks get large pages. */
    float *memory = vit_alloc(all, sizeof *memory);
    if (!memory) return vit_fail_memory(error, "matrices", all * sizeof *memory);
    product p = {.exec = {.kernels = b->kernels,
                          .threads = b->threads,
                          .room = memory,
                          .precision = b->precision},
                 .m = rows,
                 .n = out,
                 .k = in,
                 .a = memory + packing,
                 .b = memory + packing + room,
                 .c = memory + packing + 2 * room};
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 1, 0);
    for (size_t i = 0; i < 3 * room; i++) p.a[i] = (float)(vit_random_uniform(&r) * 2 - 1);
    for (int i = 0; i < FORMS; i++) {
        bench_line line = {.what = "gemm", .flop = 2. * (double)rows * (double)in * (double)out};
        p.form = (form)i;
        snprintf(line.detail, sizeof line.detail, "%s %s %zux%zux%zu", layer, forms[i], rows, in,
                 out);
        const turn median = take_turns(b, &p);
        bench beside = *b;
        beside.peak = median.peak;
        line.seconds = median.seconds;
        bench_print(&beside, &line);
    }
    vit_free(memory);
    return VIT_OK;
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
    const size_t first = vit_config_convs(c) > 0 ? 1 : 0; /* which has no patch embedding */
    for (size_t i = first; i < sizeof layers / sizeof *layers && status == VIT_OK; i++)
        status =
            measure_layer(b, layers[i].name, layers[i].rows, layers[i].in, layers[i].out, error);
    return status;
}
