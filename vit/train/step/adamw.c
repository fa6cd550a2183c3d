#include "vit/train/step/adamw.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/train/step/muon.h"
#include <math.h>

/* x^n by repeated squaring: the same on every machine, unlike pow. */
static double power(double x, uint64_t n) {
    double result = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) result *= x;
    return result;
}

double vit_layer_rate(const vit_recipe *recipe, const vit_table *table, size_t row) {
    const size_t last = table->rows[table->count - 1].layer;
    return power(recipe->layer_decay, last - table->rows[row].layer);
}

vit_status vit_chunks_new(vit_chunks *out, const vit_table *table, const vit_recipe *recipe,
                          vit_error *error) {
    size_t most = 0;
    for (size_t i = 0; i < table->count; i++) most += vit_ceil_div(table->rows[i].count, VIT_CHUNK);
    *out = (vit_chunks){.list = vit_alloc(most, sizeof *out->list),
                        .squares = vit_alloc(most, sizeof *out->squares)};
    if (!out->list || !out->squares) {
        vit_chunks_free(out);
        return vit_fail_memory(error, "the optimiser's chunks", most * sizeof *out->list);
    }
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        const vit_chunk whole = {.rate = vit_layer_rate(recipe, table, i),
                                 .decays = vit_is_weight(p),
                                 .by_muon = vit_muon_moves(recipe, table, i)};
        for (size_t k = 0; k < p->count; k += VIT_CHUNK) {
            vit_chunk *c = &out->list[out->count++];
            *c = whole;
            c->offset = p->offset + k;
            c->count = vit_min(p->count - k, VIT_CHUNK);
        }
    }
    return VIT_OK;
}

void vit_chunks_free(vit_chunks *chunks) {
    vit_free(chunks->list);
    vit_free(chunks->squares);
    *chunks = (vit_chunks){0};
}

float vit_clip_factor(const vit_recipe *r, double norm) {
    const double factor = r->clip > 0 ? r->clip / (norm + 1e-6) : 1;
    return (float)(factor < 1 ? factor : 1);
}

typedef struct update {
    const vit_chunks *chunks;
    const vit_kernels *kernels;
    const vit_adamw_state *state;
    vit_adamw_scalars scalars; /* step_size and decay are those of a chunk and set by its task */
    double lr, weight_decay;
    double unbias; /* 1 - beta1^(step + 1) */
    float share;   /* of the new values in the average */
} update;

static void update_task(size_t index, int thread, void *context) {
    (void)thread;
    const update *u = context;
    const vit_chunk *c = &u->chunks->list[index];
    const vit_adamw_state *s = u->state;
    const double lr = u->lr * c->rate;
    vit_adamw_scalars own = u->scalars;
    own.step_size = (float)(lr / u->unbias);
    own.decay = c->decays ? (float)(1 - lr * u->weight_decay) : 1;
    if (s->m && !c->by_muon && vit_is_updated(s, c->offset))
        u->kernels->adamw(s->values + c->offset, s->m + c->offset, s->v + c->offset,
                          s->gradient + c->offset, &own, c->count);
    if (s->average)
        u->kernels->average(s->average + c->offset, s->values + c->offset, u->share, c->count);
}

void vit_adamw_update(const vit_chunks *chunks, const vit_kernels *kernels, int threads,
                      const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                      double norm, uint64_t step) {
    update u = {.chunks = chunks,
                .kernels = kernels,
                .state = state,
                .scalars = {.clip = vit_clip_factor(recipe, norm),
                            .beta1 = (float)recipe->beta1,
                            .beta2 = (float)recipe->beta2,
                            .rest1 = (float)(1 - recipe->beta1),
                            .rest2 = (float)(1 - recipe->beta2),
                            .root = (float)(1 / sqrt(1 - power(recipe->beta2, step + 1))),
                            .eps = (float)recipe->eps},
                .lr = lr,
                .weight_decay = recipe->weight_decay,
                .unbias = 1 - power(recipe->beta1, step + 1)};
    const double ramp = (double)(1 + step) / (double)(10 + step);
    u.share = (float)(1 - (recipe->ema < ramp ? recipe->ema : ramp));
    vit_parallel(threads, chunks->count, update_task, &u);
}
