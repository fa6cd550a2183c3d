/* Labelled pictures of one size behind one small interface. Readers: idx.c (MNIST, Fashion-MNIST
 * and other sets of grey pictures), digits.c (drawn by the program); open.c decides which.
 *
 * A data set is immutable after opening and may be read from any thread.
 */
#ifndef VIT_DATASETS_DATASET_H
#define VIT_DATASETS_DATASET_H

#include "vit/base/error.h"

/* One part of a data set, in memory. count may be 0 (the part is absent). */
typedef struct vit_records {
    size_t count;
    uint8_t *pixels; /* [count][height][width][channels], prepared, not normalised */
    uint8_t *labels; /* [count], each < classes */
} vit_records;

typedef struct vit_dataset {
    char name[32];     /* "mnist", "fashion", "digits", "grey": also the default preset */
    char checksum[65]; /* SHA-256, hex, of the uncompressed files of the parts that were read
                          (training labels and pictures, test labels and pictures, in this order),
                          or of what defines a drawn set: goes into the model's recipe */
    size_t height, width, channels, classes;
    const char *const *labels; /* [classes], or NULL: numbers */
    float mean[3], std[3];     /* of the training pixels / 255: the published ones for known sets;
                                  of the test pixels where only those were read; std 1 for pictures
                                  that do not vary. One per channel */
    vit_records train, test;
} vit_dataset;

/* Opens DATA: an existing directory, else a known name ("digits": drawn; "mnist", "fashion": a
 * directory of that name in $VIT_DATA, then in data/). Names of known directories that are not
 * found: the message says where was looked and how to get it. `need` are the parts (bits of
 * VIT_PART_*) that must be there, `want` those that are read where they are there; others are not
 * read, and at least one part must be there. Errors: IO for what is absent (ARGUMENT only for DATA
 * that is NULL), FORMAT and UNSUPPORTED for one file, MISMATCH for files that disagree, MEMORY;
 * then *out is zeroed. Freed by vit_dataset_close. */
enum { VIT_PART_TRAIN = 1, VIT_PART_TEST = 2 };
vit_status vit_dataset_open(vit_dataset *out, const char *data, unsigned need, unsigned want,
                            vit_error *error);
void vit_dataset_close(vit_dataset *dataset);

/* Pixels of one record. */
const uint8_t *vit_record_pixels(const vit_dataset *d, const vit_records *r, size_t index);

/* ---- drawn digits, for who wants one ---- */

/* pixels: [28][28], white on black: the digit (0..9) of record `index` of a set drawn with `seed`;
 * the label is returned. */
uint8_t vit_digits_draw(uint8_t *pixels, uint64_t seed, uint32_t index);

#endif
