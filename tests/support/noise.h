/* Batches of noise, for the tests of the trainer. */
#ifndef VIT_TESTS_SUPPORT_NOISE_H
#define VIT_TESTS_SUPPORT_NOISE_H

#include "vit/train/step/batch.h"

/* A vit_batch_source whose `context` is a vit_config: picture i of a batch and its label depend on
 * i alone; its key is that of epoch 4. */
vit_status noise_batch(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                       size_t count, const vit_batch_room *room, void *context, vit_error *error);

#endif
