/* The published sets of IDX files: how their files are called, and their classes. */
#ifndef VIT_DATASETS_RECORDS_IDX_SETS_H
#define VIT_DATASETS_RECORDS_IDX_SETS_H

#include "datasets/reader.h"

typedef enum vit_idx_part { VIT_IDX_TRAIN, VIT_IDX_TEST, VIT_IDX_PARTS } vit_idx_part;
typedef enum vit_idx_kind { VIT_IDX_LABELS, VIT_IDX_PICTURES, VIT_IDX_KINDS } vit_idx_kind;

/* A set, or a split of EMNIST. */
typedef struct vit_idx_names {
    const char *prefix;               /* of all its files: "emnist-letters", or "" */
    const char *parts[VIT_IDX_PARTS]; /* "train", "t10k" */
    const char *labels;               /* the end of the names of label files: "idx1-ubyte" */
    const char *characters;           /* the classes, each of one; NULL: numbers */
    unsigned first_label;             /* that of the first class */
    bool is_transposed; /* pictures are stored column by column, and are turned upright */
    bool has_mapping;   /* PREFIX-mapping.txt may say which characters the classes are */
    bool are_digits;    /* placed as MNIST's */
} vit_idx_names;

/* The set whose files are in the directory; *count = of how many sets there are files. With
 * directory->chosen, which is a prefix, the set of that name alone. NULL: there is none. */
const vit_idx_names *vit_idx_names_find(const vit_listing *directory, size_t *count);

/* Whether a set is called so: "qmnist", "emnist-letters"; and "emnist-..." always. */
bool vit_idx_names_has(const char *name);

/* *path = a file in the directory, gzipped or not, freed by vit_free; NULL if it is missing. */
vit_status vit_idx_names_path(char **path, const vit_idx_names *names, vit_idx_part part,
                              vit_idx_kind kind, const vit_listing *directory, vit_error *error);

/* The published name of a file. */
void vit_idx_names_spell(char name[64], const vit_idx_names *names, vit_idx_part part,
                         vit_idx_kind kind);

/* Names the classes of the set, changes labels to their places among these, and turns pictures
 * upright, all as `names` says, and the files beside the pictures: a mapping of EMNIST's or
 * KMNIST's. Does nothing to a set whose classes are numbers from 0 on. Errors: FORMAT for a
 * damaged mapping, or a label that it has not, IO, MEMORY. */
vit_status vit_idx_names_apply(vit_dataset *set, const vit_idx_names *names,
                               const vit_listing *directory, vit_error *error);

#endif
