/* How far the texts that a model writes are from the right ones. */
#ifndef VIT_TRAIN_MEASURE_EDIT_DISTANCE_H
#define VIT_TRAIN_MEASURE_EDIT_DISTANCE_H

#include "datasets/dataset.h"
#include "vit/model/run/network.h"

/* The records that are answered. All is borrowed. */
typedef struct vit_answered_records {
    const vit_network *network;
    const vit_dataset *data;
    const vit_records *records;
    const uint32_t *numbers; /* [count] of the records; NULL: the first `count` */
    size_t count;
    float (*table)[256]; /* [channel][byte]: its normalised value */
} vit_answered_records;

/* *edit_distance: signs to insert, delete or replace (Levenshtein) in the texts that the model
 * writes greedily, over the signs of all right texts; NaN: there are none. right: [count], the
 * texts that are known to be right, which are not written again. Errors: those of reading a record,
 * MEMORY. */
vit_status vit_edit_distance(double *edit_distance, const vit_answered_records *texts,
                             const bool *right, const vit_exec *exec, vit_error *error);

typedef struct vit_text_distance {
    vit_status (*measure)(double *edit_distance, const vit_answered_records *texts,
                          const bool *right, const vit_exec *exec, vit_error *error);
} vit_text_distance;

extern const vit_text_distance *const vit_text_distances; /* of the list `guests`; or NULL */

#endif
