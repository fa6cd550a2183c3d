/* Tables of pictures that are copies of others, as trainings and evaluations write them. */
#ifndef VIT_FORMATS_COPY_TABLE_H
#define VIT_FORMATS_COPY_TABLE_H

#include "vit/base/text.h"

/* One of two pictures: its file, its part of the data, the name of its class. */
typedef struct vit_copy_side {
    const char *file, *split, *label;
} vit_copy_side;

/* What such a table begins with. */
extern const char vit_copy_table_head[];

/* Appends a row: `picture` is a copy of `of`, `alike` as vit_alike_name has it. */
void vit_copy_table_add(vit_string *text, const vit_copy_side *picture, const vit_copy_side *of,
                        const char *alike);

#endif
