/* One training step: forward, loss, backward, clipping, AdamW or Muon. How it is divided among
 * threads, and in which order gradients are added: lanes.h. */
#ifndef VIT_TRAIN_STEP_TRAINER_H
#define VIT_TRAIN_STEP_TRAINER_H

#include "vit/cluster/cluster.h"
#include "vit/model/run/network.h"
#include "vit/train/recipe/recipe.h"
#include "vit/train/step/batch.h"
#include "vit/train/step/teacher.h"

typedef struct vit_trainer vit_trainer;

/* How a trainer computes. Only the teacher has an influence on the result. */
typedef struct vit_trainer_options {
    const vit_kernels *kernels;
    int threads;
    bool activation_checkpointing; /* keep only the blocks' inputs for the backward pass:
                                      VIT_KEPT_INPUTS */
    const vit_teacher *teacher;    /* borrowed; NULL or a closed one: there is none */
    bool blank;                    /* weights start as 0, not at random: the caller writes others */
    vit_cluster *cluster;          /* ranks that make each step together; NULL: one process */
    bool shard;                    /* each rank has only its part of the moments: vit_shard */
} vit_trainer_options;

/* Initial values and the random numbers of drop path come from `seed`. `options` are copied;
 * `recipe` must outlive the trainer, which is freed by vit_trainer_free. */
vit_status vit_trainer_new(vit_trainer **out, const vit_config *config, const vit_recipe *recipe,
                           const vit_trainer_options *options, uint64_t seed, vit_error *error);
void vit_trainer_free(vit_trainer *trainer);

/* Back to step 0, with the initial values of `seed` (0 if options->blank). */
void vit_trainer_reset(vit_trainer *trainer, uint64_t seed);

/* From now on the loss of a picture, and its gradient, is multiplied by weights[label]; of a mixed
 * picture by the mean of its labels' weights. weights: [classes], copied; their mean over the
 * training pictures should be 1. */
vit_status vit_trainer_weigh(vit_trainer *trainer, const double *weights, vit_error *error);

/* What ranks tell each other in a step: word i is bit i of words, which are combined by OR. */
typedef enum vit_word {
    VIT_WORD_STOP, /* a rank was asked to stop */
    VIT_WORD_SAVE, /* rank 0: a checkpoint is due */
    VIT_WORD_LATE, /* rank 0: the time is over */
    VIT_WORDS,
} vit_word;

/* Says `words` in the next step; afterwards vit_trainer_heard returns those of all ranks. In one
 * process it returns the same. */
void vit_trainer_say(vit_trainer *trainer, unsigned words);
unsigned vit_trainer_heard(const vit_trainer *trainer);

/* One step at learning rate lr; *loss is the mean loss of the batch before the step. If that or the
 * gradient's norm is not finite, or the norm is above the limit, the step is counted but changes no
 * weight. Fails only if the source fails, or a rank's, and then changes nothing, or if a rank is
 * lost.
 */
vit_status vit_trainer_step(vit_trainer *trainer, double *loss, double lr, vit_batch_source *source,
                            void *context, vit_error *error);

/* Steps whose gradient norm, before clipping, is larger are skipped; infinite until this is called.
 */
void vit_trainer_limit(vit_trainer *trainer, double norm);

/* The state that a checkpoint contains. Arrays are [table->size] and the trainer's own. */
typedef struct vit_trainer_state {
    const vit_table *table, *trained; /* `trained`: the rows that are not frozen */
    float *values, *m, *v;            /* weights; AdamW's moments, 0 for frozen rows */
    float *average;                   /* moving average of the weights; NULL: the recipe has none */
    uint64_t step;                    /* steps done */
} vit_trainer_state;

vit_trainer_state vit_trainer_get(vit_trainer *trainer);
uint64_t vit_trainer_steps(const vit_trainer *trainer); /* done so far */

/* The gradient of the last step. */
typedef struct vit_last_gradient {
    bool skipped; /* it could not be used */
    double norm;  /* before clipping */
} vit_last_gradient;

vit_last_gradient vit_trainer_last(const vit_trainer *trainer);

/* Brings the moments of all ranks to rank 0, for a checkpoint, if they are sharded; _drop gives the
 * memory of those that are not its own back afterwards. */
vit_status vit_trainer_gather(vit_trainer *trainer, vit_error *error);
void vit_trainer_drop(vit_trainer *trainer);

/* After rank 0 has loaded a state: gives it, with `step`, to all ranks. */
vit_status vit_trainer_spread(vit_trainer *trainer, uint64_t step, vit_error *error);

/* Call after writing into the arrays of vit_trainer_get: `step` steps are done with them. At step 0
 * the average starts as the weights. */
void vit_trainer_changed(vit_trainer *trainer, uint64_t step);

/* The network to evaluate and to write: with the weights, or with their average as it was at the
 * last vit_trainer_settle. Borrowed. */
const vit_network *vit_trainer_network(const vit_trainer *trainer);
void vit_trainer_settle(vit_trainer *trainer);

/* The gradient of the last step, summed over the batch, before clipping: [table->size]; for tests.
 */
const float *vit_trainer_gradient(const vit_trainer *trainer);

/* Drop path (Huang et al.: Deep Networks with Stochastic Depth; per picture as in timm): each
 * branch of a block, MSA or MLP, is left out with the block's rate p, or divided by 1 - p. p rises
 * linearly from 0 in the first block to `rate` < 1 in the last. keep: [depth][2][count], the
 * factors 0 or 1 / (1 - p) for the samples with these keys (vit_state.keep). */
void vit_drop_path(float *keep, double rate, size_t depth, uint64_t seed,
                   const vit_sample_key *keys, size_t count);

#endif
