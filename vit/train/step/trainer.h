/* One training step: forward, loss, backward, clipping, AdamW.
 *
 * What threads do of it, and in which order gradients are summed: lanes.h.
 */
#ifndef VIT_TRAIN_STEP_TRAINER_H
#define VIT_TRAIN_STEP_TRAINER_H

#include "vit/model/network.h"
#include "vit/train/recipe/recipe.h"
#include "vit/train/step/batch.h"
#include "vit/train/step/teacher.h"

typedef struct vit_trainer vit_trainer;

/* How it computes; but for the teacher, that changes no byte of what it makes of its weights. */
typedef struct vit_trainer_options {
    const vit_kernels *kernels;
    int threads;
    bool recompute; /* keep only the blocks' inputs for the backward pass: VIT_KEPT_INPUTS */
    const vit_teacher *teacher; /* borrowed; NULL, or one that is closed: there is none */
    bool blank; /* all weights are 0 until the caller writes others: no time is spent on them */
} vit_trainer_options;

/* The network gets its initial values, and drop path its random numbers, from `seed`. `recipe` and
 * `options` are copied. */
vit_status vit_trainer_new(vit_trainer **out, const vit_config *config, const vit_recipe *recipe,
                           const vit_trainer_options *options, uint64_t seed, vit_error *error);
void vit_trainer_free(vit_trainer *trainer);

/* Back to the initial values of `seed`, or to none, no step done. */
void vit_trainer_reset(vit_trainer *trainer, uint64_t seed);

/* From now on a picture's loss, and with it its gradient, counts weights[label] times: [classes], 1
 * on an average over the training pictures; a mixed picture's by its shares. */
vit_status vit_trainer_weigh(vit_trainer *trainer, const double *weights, vit_error *error);

/* One step at learning rate lr; *loss is the mean loss of the batch before it. Where that or the
 * gradient's norm is not finite, or the norm is above the limit, the step is counted and changes
 * nothing else. Fails only where the source does, and then nothing has changed. */
vit_status vit_trainer_step(vit_trainer *trainer, double *loss, double lr, vit_batch_source *source,
                            void *context, vit_error *error);

/* The largest norm of a gradient, before clipping, that is used; infinite until this is called. */
void vit_trainer_limit(vit_trainer *trainer, double norm);

/* What a checkpoint holds, each [table->size]: the weights, AdamW's two moments, which are 0 but
 * for the rows of `trained`, and the weights' moving average, NULL where the recipe has none. */
typedef struct vit_trainer_state {
    const vit_table *table, *trained;
    float *values, *m, *v, *average;
    uint64_t step; /* done */
    bool skipped;  /* the last of them changed nothing, as its gradients could not be used */
    double norm;   /* of its gradient, before clipping */
} vit_trainer_state;

vit_trainer_state vit_trainer_get(vit_trainer *trainer);

/* After the caller has written new values into the arrays of vit_trainer_get. At step 0 the average
 * begins with the weights. */
void vit_trainer_changed(vit_trainer *trainer, uint64_t step);

/* The network to evaluate and to keep: of the weights after the last step, or of their average as
 * of the last vit_trainer_settle. */
const vit_network *vit_trainer_network(const vit_trainer *trainer);
void vit_trainer_settle(vit_trainer *trainer);

/* The summed gradient of the last step, before clipping: [table->size]; for tests. */
const float *vit_trainer_gradient(const vit_trainer *trainer);

#endif
