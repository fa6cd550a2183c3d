#include "vit/train/adamw.h"
#include "vit/base/sys.h"
#include <math.h>

vit_status vit_chunks_new(vit_chunks *out, const vit_table *table, vit_error *error) {
    size_t most = 0;
    for (size_t i = 0; i < table->count; i++)
        most += (table->rows[i].count + VIT_CHUNK - 1) / VIT_CHUNK;
    *out = (vit_chunks){vit_alloc(most, sizeof *out->list), 0, table->size,
                        vit_alloc(most, sizeof *out->squares)};
    if (!out->list || !out->squares) {
        vit_chunks_free(out);
        return vit_fail_memory(error, "the optimiser's chunks", most * sizeof *out->list);
    }
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        for (size_t j = 0; j < p->count; j += VIT_CHUNK) {
            const size_t left = p->count - j;
            out->list[out->count++] =
                (vit_chunk){p->offset + j, left < VIT_CHUNK ? left : VIT_CHUNK,
                            p->kind == VIT_PARAMETER_WEIGHT};
        }
    }
    return VIT_OK;
}

void vit_chunks_free(vit_chunks *chunks) {
    vit_free(chunks->list);
    vit_free(chunks->squares);
    *chunks = (vit_chunks){0};
}

typedef struct sum {
    vit_chunks *chunks;
    const vit_kernels *kernels;
    float *gradients;
    size_t lanes;
} sum;

static void sum_task(size_t index, int thread, void *context) {
    (void)thread;
    const sum *s = context;
    const vit_chunk *c = &s->chunks->list[index];
    const size_t lane = s->chunks->lane_size;
    float *first = s->gradients + c->offset;
    s->kernels->column_sums(first, first + lane, s->lanes - 1, c->count, lane);
    s->chunks->squares[index] = s->kernels->square_sum(first, c->count);
}

double vit_sum_lanes(vit_chunks *chunks, const vit_kernels *kernels, int threads, float *gradients,
                     size_t lanes) {
    sum s = {chunks, kernels, gradients, lanes};
    vit_parallel(threads, chunks->count, sum_task, &s);
    double total = 0;
    for (size_t i = 0; i < chunks->count; i++) total += chunks->squares[i];
    return sqrt(total);
}

/* x^n by repeated squaring: the same on every machine, unlike pow. */
static double power(double x, uint64_t n) {
    double result = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) result *= x;
    return result;
}

static vit_adamw_scalars scalars(const vit_recipe *r, double lr, double norm, uint64_t step) {
    const double factor = r->clip > 0 ? r->clip / (norm + 1e-6) : 1;
    return (vit_adamw_scalars){
        .clip = (float)(factor < 1 ? factor : 1),
        .beta1 = (float)r->beta1,
        .beta2 = (float)r->beta2,
        .rest1 = (float)(1 - r->beta1),
        .rest2 = (float)(1 - r->beta2),
        .root = (float)(1 / sqrt(1 - power(r->beta2, step + 1))),
        .step_size = (float)(lr / (1 - power(r->beta1, step + 1))),
        .eps = (float)r->eps,
    };
}

typedef struct update {
    const vit_chunks *chunks;
    const vit_kernels *kernels;
    const vit_adamw_state *state;
    vit_adamw_scalars decaying, keeping;
    float share; /* of the new values in the average */
} update;

static void update_task(size_t index, int thread, void *context) {
    (void)thread;
    const update *u = context;
    const vit_chunk *c = &u->chunks->list[index];
    const vit_adamw_state *s = u->state;
    u->kernels->adamw(s->values + c->offset, s->m + c->offset, s->v + c->offset,
                      s->gradient + c->offset, c->decays ? &u->decaying : &u->keeping, c->count);
    if (s->average)
        u->kernels->average(s->average + c->offset, s->values + c->offset, u->share, c->count);
}

void vit_adamw_update(const vit_chunks *chunks, const vit_kernels *kernels, int threads,
                      const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                      double norm, uint64_t step) {
    update u = {.chunks = chunks, .kernels = kernels, .state = state};
    u.keeping = u.decaying = scalars(recipe, lr, norm, step);
    u.decaying.decay = (float)(1 - lr * recipe->weight_decay);
    u.keeping.decay = 1;
    const double ramp = (double)(1 + step) / (double)(10 + step);
    u.share = (float)(1 - (recipe->ema < ramp ? recipe->ema : ramp));
    vit_parallel(threads, chunks->count, update_task, &u);
}
