/* Batches: sample -> augment -> normalise, a pure function of (seed, epoch, position). */
#ifndef VIT_TRAIN_STEP_LOADER_H
#define VIT_TRAIN_STEP_LOADER_H

#include "datasets/dataset.h"
#include "vit/train/augment/augment.h"
#include "vit/train/augment/mix.h"
#include "vit/train/step/batch.h"

/* The training pictures without those held back, in the order of each epoch. */
typedef struct vit_loader {
    const vit_dataset *data;
    size_t batch;
    vit_augmentation augmentation;
    vit_recipe recipe;
    uint64_t mixed_steps; /* so many of the first steps mix pictures, if the recipe says so */
    uint64_t seed;
    uint32_t *train, *val; /* record numbers; owned by `train`. val NULL: the set's own val part */
    size_t train_count, val_count;
    float table[3][256]; /* normalised value of a byte, per channel */
    uint32_t *order;     /* [train_count] of epoch order_epoch */
    uint64_t order_epoch;
    struct vit_sample *samples; /* [batch] of the batch that was prepared */
    size_t answers;             /* tokens of its texts, each with END */
    bool mixes;                 /* whether its pictures are mixed */
    const float *teacher; /* stored logits of all training pictures, [..][classes], borrowed; NULL:
                             there are none */
} vit_loader;

/* Holds back as many of the training pictures as the recipe says, by seed; none where the set has a
 * val part of its own. ARGUMENT where none is left. */
vit_status vit_loader_new(vit_loader *out, const vit_dataset *data, const vit_recipe *recipe,
                          uint64_t seed, vit_error *error);
void vit_loader_free(vit_loader *loader);

/* Mixing ends at the recipe's share of so many steps; until this is called, it does not. */
void vit_loader_plan(vit_loader *loader, uint64_t steps);

/* What `val` and val_count count in: the set's val part, or the training part. */
const vit_records *vit_loader_val_records(const vit_loader *loader);

/* Chooses the pictures of batch number `step`: positions step * batch ... of the endless row of
 * epochs. Then vit_loader_source (a vit_batch_source, context: the loader) may be called. */
void vit_loader_prepare(vit_loader *loader, uint64_t step);
vit_status vit_loader_source(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                             size_t count, const vit_batch_room *room, void *context,
                             vit_error *error);

#endif
