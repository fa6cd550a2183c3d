/* Of vit_evaluate: what only models that write texts have. */
#ifndef VIT_API_EVALUATE_TEXT_H
#define VIT_API_EVALUATE_TEXT_H

#include "datasets/dataset.h"
#include "vit/api/internal.h"

/* Records that are answered. */
typedef struct vit_text_data {
    const vit_network *network;
    const vit_dataset *data;
    const vit_records *records;
    const uint32_t *numbers; /* [count]; NULL: the first */
    size_t count;
    float (*table)[256]; /* normalised value of a byte, per channel */
} vit_text_data;

/* MISMATCH for data that are none for the model. */
vit_status vit_check_text_data(const vit_model *model, const vit_dataset *data, vit_error *error);

/* Writes the texts that are not right, greedily; *edit_distance: signs to insert, delete or
 * replace, over signs of all right texts. right: [count]. */
vit_status vit_judge_texts(double *edit_distance, const vit_text_data *texts, const bool *right,
                           const vit_exec *exec, vit_error *error);

#endif
