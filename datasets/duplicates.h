/* Pictures that a set has in its training part and in another: what is measured on them is no
 * measure of what the model does with new ones. */
#ifndef VIT_DATASETS_DUPLICATES_H
#define VIT_DATASETS_DUPLICATES_H

#include "datasets/dataset.h"

typedef struct vit_duplicates {
    size_t same;          /* pictures of the part that are training pictures, pixel by pixel */
    size_t near;          /* that are nearly: re-encoded, brightened, a little blurred */
    size_t record, train; /* one of them, and the training picture it is; of the same, if any */
} vit_duplicates;

/* Of the records in memory, as they are prepared; on `threads` threads, which change nothing.
 * Nearly the same: perceptual hashes (dHash, 64 bits that say where brightness rises from left to
 * right in 9 x 8 means) differ in at most 6 bits, and pixels by at most 16 of 255 in the mean, once
 * both are equally bright; pictures of one colour are the same or they are not. Nothing is looked
 * for in sets of more than 4 billion pairs. */
vit_status vit_duplicates_find(vit_duplicates *out, const vit_dataset *set, const vit_records *part,
                               int threads, vit_error *error);

/* Adds a note where val or test have pictures of the training part; names the files. */
vit_status vit_duplicates_note(vit_dataset *set, int threads, vit_error *error);

#endif
