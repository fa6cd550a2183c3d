/* A batch of a fixture as the source of a training step (make_networks.py). */
#ifndef TESTS_SUPPORT_STORED_BATCH_H
#define TESTS_SUPPORT_STORED_BATCH_H

#include "vit/train/step/batch.h"

typedef struct stored_batch {
    float *images, *labels;
    size_t pixels;
    uint32_t step;
    size_t classes;  /* 0: one a picture; else labels are [pictures][classes] of 0 and 1 */
    uint32_t *lists; /* [pictures][classes], of which each picture has the first few */
} stored_batch;

/* A vit_batch_source; context: a stored_batch. Keys are as in make_networks.py: the step is the
 * epoch, positions are those of the batch. */
vit_batch_source stored_batch_source;

#endif
