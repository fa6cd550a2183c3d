/* Batches: sample -> augment -> normalise. A sample is a pure function of (seed, epoch, position).
 */
#ifndef VIT_TRAIN_STEP_LOADER_H
#define VIT_TRAIN_STEP_LOADER_H

#include "datasets/dataset.h"
#include "vit/train/augment/augment.h"
#include "vit/train/augment/mix.h"
#include "vit/train/step/batch.h"

/* The training pictures, without those held back, shuffled in each epoch. */
typedef struct vit_loader {
    const vit_dataset *data;  /* borrowed */
    const vit_recipe *recipe; /* borrowed */
    vit_picture_shape shape;
    uint64_t mixed_steps; /* steps, from the first on, in which pictures may be mixed */
    uint64_t seed;
    uint32_t *train, *val; /* numbers of records, in one block that starts at `train`; val NULL: the
                              data have a val part of their own */
    size_t train_count, val_count;
    float table[3][256]; /* normalised value of a byte, per channel */
    uint32_t *order; /* [train_count]: the order of epoch order_epoch, as positions in `train`, or
                        in `sorted` if that is there */
    uint64_t order_epoch;
    /* Of data in shards; else NULL. */
    uint32_t *sorted;      /* [train_count]: `train` in the order of the records */
    size_t *shards;        /* [shard_count + 1]: where each shard begins in `sorted` */
    uint32_t *shard_order; /* [shard_count] */
    size_t shard_count, window;
    struct vit_sample *samples; /* [batch]: the batch that vit_loader_prepare chose */
    size_t answers;             /* tokens of its texts, each with END */
    bool mixes;                 /* whether its pictures are mixed */
    const float *teacher; /* [training pictures][classes]: stored logits, borrowed; NULL: none */
} vit_loader;

/* Pictures in shards are read as a stream: in each epoch the shards are shuffled, and then the
 * pictures within windows of shards that follow each other, as many as have this many pictures. */
#define VIT_LOADER_WINDOW 16384

/* Holds back as many training pictures as the recipe says, chosen by seed; none if the data have a
 * val part. They are drawn by class, each giving its share and keeping one picture at least; or, if
 * every class gives many, from all. ARGUMENT if none is left for training. Data and recipe must
 * outlive the loader. Freed by vit_loader_free. */
vit_status vit_loader_new(vit_loader *out, const vit_dataset *data, const vit_recipe *recipe,
                          uint64_t seed, vit_error *error);
void vit_loader_free(vit_loader *loader);

/* Tells of how many steps the training is: mixing ends after the recipe's share of them
 * (mix_until); without this call it never ends. */
void vit_loader_plan(vit_loader *loader, uint64_t steps);

/* The records that `val` numbers: the data's val part, or the training part. */
const vit_records *vit_loader_val_records(const vit_loader *loader);

/* Chooses the samples of batch number `step`: positions step * batch and on in the sequence of all
 * epochs. Then vit_loader_source (a vit_batch_source, context: the loader) makes them. */
void vit_loader_prepare(vit_loader *loader, uint64_t step);
vit_status vit_loader_source(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                             size_t count, const vit_batch_room *room, void *context,
                             vit_error *error);

#endif
