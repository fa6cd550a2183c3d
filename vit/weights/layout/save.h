/* From a parameter table to the tensors of a layout: the tables of layout.h in the other direction.
 */
#ifndef VIT_WEIGHTS_LAYOUT_SAVE_H
#define VIT_WEIGHTS_LAYOUT_SAVE_H

#include "vit/weights/file/rounded.h"
#include "vit/weights/layout/layout.h"

typedef struct vit_exported {
    vit_tensor *tensors; /* [count], float32, sorted by name; their data and names are below */
    size_t count;
    vit_to_round
        *how; /* [count]: which are weights of blocks, and their scales if they are known */
    float *elements;
    char *names;
    const char *lost;  /* the table's name of the first tensor that the layout has no row for */
    size_t lost_count; /* how many such tensors there are */
} vit_exported;

/* The layout of that name, of which there must be one. */
const vit_layout *vit_layout_find(const char *name);

/* The tensors of the model, whose values are not packed, in that layout. Where a layout has several
 * names for a tensor, the first is used; a patch embedding in the order "pixel" is written as the
 * convolution that it equals. Freed by vit_exported_free. Errors: MEMORY. */
vit_status vit_export(vit_exported *out, const vit_layout *layout, const vit_model_file *model,
                      vit_error *error);
void vit_exported_free(vit_exported *exported);

#endif
