/* The optimiser AdamW (Loshchilov, Hutter: Decoupled Weight Decay Regularization). Its tasks for
 * the threads are chunks: at most VIT_CHUNK elements of one tensor. */
#ifndef VIT_TRAIN_STEP_ADAMW_H
#define VIT_TRAIN_STEP_ADAMW_H

#include "vit/model/parameters.h"
#include "vit/train/recipe/recipe.h"

typedef struct vit_chunk {
    size_t offset, count; /* floats, in an array of the table */
    double rate;          /* factor of the learning rate: vit_layer_rate */
    bool decays;          /* weight decay applies */
    bool by_muon;         /* of a matrix that Muon updates, not AdamW */
} vit_chunk;

typedef struct vit_chunks {
    vit_chunk *list; /* owned, in table order */
    size_t count;
    float *squares; /* [count] sums of squares of the chunks' gradients; owned */
} vit_chunks;

/* Divides the tensors of `table`, the rows that are not frozen, into chunks. */
vit_status vit_chunks_new(vit_chunks *out, const vit_table *table, const vit_recipe *recipe,
                          vit_error *error);
void vit_chunks_free(vit_chunks *chunks);

/* Layer-wise decay: layer_decay^(last layer - layer of this row), the factor of its learning rate.
 */
double vit_layer_rate(const vit_recipe *recipe, const vit_table *table, size_t row);

/* What a gradient of this norm is multiplied by, as in PyTorch's clip_grad_norm_: min(1, clip /
 * (norm + 1e-6)). */
float vit_clip_factor(const vit_recipe *recipe, double norm);

typedef struct vit_adamw_state {
    float *values, *m, *v;
    float *average; /* moving average of the values; NULL: none */
    const float *gradient;
    size_t from, to; /* the floats whose tensors are updated; 0, 0: all */
} vit_adamw_state;

/* Whether the tensor at `offset` is updated. */
static inline bool vit_is_updated(const vit_adamw_state *s, size_t offset) {
    return s->to == 0 || (offset >= s->from && offset < s->to);
}

/* Step number `step` (from 0) of AdamW, at learning rate lr times the rate of the chunk, for all
 * chunks but Muon's; then, for all chunks, of the moving average: average += (1 - d) (values -
 * average), d = min(ema, (1 + step) / (10 + step)); with state->m NULL of that alone. `norm` is
 * that of the whole gradient, which is first multiplied by vit_clip_factor. */
void vit_adamw_update(const vit_chunks *chunks, const vit_kernels *kernels, int threads,
                      const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                      double norm, uint64_t step);

#endif
