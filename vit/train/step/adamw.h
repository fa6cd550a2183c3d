/* The optimiser: AdamW (Loshchilov, Hutter: Decoupled Weight Decay Regularization). It walks the
 * parameter table in chunks of at most VIT_CHUNK elements of one tensor, which are the tasks of the
 * threads. */
#ifndef VIT_TRAIN_STEP_ADAMW_H
#define VIT_TRAIN_STEP_ADAMW_H

#include "vit/model/parameters.h"
#include "vit/train/recipe/recipe.h"

typedef struct vit_chunk {
    size_t offset, count; /* floats, in an array of the table */
    double rate;          /* factor of the learning rate */
    bool decays;
    bool moves; /* Muon moves it, and AdamW does not */
} vit_chunk;

typedef struct vit_chunks {
    vit_chunk *list; /* owned, in table order */
    size_t count;
    size_t lane_size; /* floats from lane to lane: vit_table.size */
    float *squares;   /* [count] sum of squares of each chunk's gradient */
} vit_chunks;

/* Of the tensors of `table`, those that are trained. */
vit_status vit_chunks_new(vit_chunks *out, const vit_table *table, const vit_recipe *recipe,
                          vit_error *error);
void vit_chunks_free(vit_chunks *chunks);

/* The factor of the learning rate of a row of the table, and what gradients of that norm are
 * multiplied by. */
double vit_layer_rate(const vit_recipe *recipe, const vit_table *table, size_t row);
float vit_clip_factor(const vit_recipe *recipe, double norm);

typedef struct vit_adamw_state {
    float *values, *m, *v;
    float *average; /* of the values; NULL: none is kept */
    const float *gradient;
} vit_adamw_state;

/* Step number `step` (from 0) of AdamW at learning rate lr (of a chunk: times its rate, which the
 * weight decay follows) where Muon moves nothing, and of the average: average += (1 - d)
 * (values - average), d = min(ema, (1 + step) / (10 + step)). The gradient is first scaled to the
 * recipe's norm as PyTorch's clip_grad_norm_ does: by min(1, clip / (norm + 1e-6)). */
void vit_adamw_update(const vit_chunks *chunks, const vit_kernels *kernels, int threads,
                      const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                      double norm, uint64_t step);

#endif
