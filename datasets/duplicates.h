/* Pictures that are both in the training part of a set and in another part: what is measured on
 * them does not tell how the model does on new pictures. */
#ifndef VIT_DATASETS_DUPLICATES_H
#define VIT_DATASETS_DUPLICATES_H

#include "datasets/dataset.h"

typedef struct vit_duplicates {
    size_t same;          /* pictures of the part that equal a training picture */
    size_t near;          /* those that are nearly equal: re-encoded, brighter, a little blurred */
    size_t record, train; /* an example, one that is equal if there is any: the picture of the part
                             and the training picture */
} vit_duplicates;

/* Finds them among the prepared records in memory. The result does not depend on `threads`. Two
 * pictures are nearly equal if their perceptual hashes (dHash, 64 bits that say where brightness
 * rises from left to right in 9 x 8 means) differ in at most 6 bits and their pixels, at equal
 * brightness, by at most 16 of 255 on average; pictures of one colour are never nearly equal. Sets
 * of more than 4 billion pairs are not searched. Errors: MEMORY. */
vit_status vit_duplicates_find(vit_duplicates *out, const vit_dataset *set, const vit_records *part,
                               int threads, vit_error *error);

/* Adds a note if val or test have pictures of the training part; it names two files. */
vit_status vit_duplicates_note(vit_dataset *set, int threads, vit_error *error);

#endif
