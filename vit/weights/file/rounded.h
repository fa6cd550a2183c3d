/* Weights of files in 8-bit integers, under the names that compressed-tensors gives them: "X" of
 * type I8, [out][in...], and "X_scale" of type F32, [out][1]. */
#ifndef VIT_WEIGHTS_FILE_ROUNDED_H
#define VIT_WEIGHTS_FILE_ROUNDED_H

#include "vit/tensors/tensor.h"
#include <stdbool.h>

/* What becomes of a tensor. scales: [shape[0]], as for vit_int8_round; NULL: none are known. */
typedef struct vit_to_round {
    bool rounds; /* else it stays as it is */
    const float *scales;
} vit_to_round;

typedef struct vit_rounded_tensors {
    vit_tensor *tensors; /* [count] */
    size_t count;
    char *names;
    void *elements;
} vit_rounded_tensors;

/* The tensors, those to round in integers and followed by their scales. Freed by
 * vit_rounded_tensors_free; the other tensors' data and names are borrowed. Errors: MEMORY. */
vit_status vit_tensors_round(vit_rounded_tensors *out, const vit_tensor *tensors,
                             const vit_to_round *how, size_t count, vit_error *error);
void vit_rounded_tensors_free(vit_rounded_tensors *tensors);

#endif
