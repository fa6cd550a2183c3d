/* Where a training step gets its pictures from. */
#ifndef VIT_TRAIN_BATCH_H
#define VIT_TRAIN_BATCH_H

#include "vit/base/error.h"
#include "vit/text/vocabulary.h"
#include <stddef.h>
#include <stdint.h>

/* What a picture's random numbers depend on, besides the seed: drawn three times, it is augmented
 * three ways. */
typedef struct vit_sample_key {
    uint32_t epoch, position; /* position: in the epoch */
    size_t other;             /* label of a picture mixed into it, and the share of that label in */
    double share;             /* its target; 0: there is none */
    /* Of a sample that is answered with a text: that, and what it is where it is no picture. */
    vit_ids source, target;
    size_t answers; /* tokens of all the batch's targets, each with END: the loss is their mean */
} vit_sample_key;

/* Puts pictures first .. first + count - 1 of the batch into images: [count][height][width]
 * [channels], normalised; labels: [count], keys: [count]. Called from several threads at once. */
typedef vit_status vit_batch_source(float *images, size_t *labels, vit_sample_key *keys,
                                    size_t first, size_t count, void *context, vit_error *error);

#endif
