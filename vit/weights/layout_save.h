/* From a parameter table to the tensors of a layout: layout.h's tables read the other way round. */
#ifndef VIT_WEIGHTS_LAYOUT_SAVE_H
#define VIT_WEIGHTS_LAYOUT_SAVE_H

#include "vit/weights/layout.h"

typedef struct vit_exported {
    vit_tensor *tensors; /* float32, by name; data and names in the memory below */
    size_t count;
    float *elements;
    char *names;
    const char *lost; /* name, in the table, of the first tensor that the layout has no place for */
    size_t lost_count; /* and how many those are */
} vit_exported;

/* The layout of that name, or NULL. */
const vit_layout *vit_layout_find(const char *name);

/* values: [table->size]. Where a layout knows several names, the first of its table is written; a
 * patch embedding in the order "pixel" becomes the convolution that it is. MEMORY. */
vit_status vit_export(vit_exported *out, const vit_layout *layout, const vit_config *config,
                      const vit_table *table, const float *values, vit_error *error);
void vit_exported_free(vit_exported *exported);

#endif
