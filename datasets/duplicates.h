/* Pictures that are both in the training part of a set and in another part: what is measured on
 * them does not tell how the model does on new pictures. */
#ifndef VIT_DATASETS_DUPLICATES_H
#define VIT_DATASETS_DUPLICATES_H

#include "datasets/dataset.h"
#include "vit/image/likeness.h"

typedef struct vit_duplicates {
    size_t same;          /* pictures of the part that equal a training picture */
    size_t near;          /* those that are nearly equal: re-encoded, brighter, a little blurred */
    size_t record, train; /* an example, one that is equal if there is any: the picture of the part
                             and the training picture */
} vit_duplicates;

/* Finds them among the prepared records in memory. The result does not depend on `threads`. Two
 * pictures are nearly equal as vit_likeness_compare says; those of one colour are only equal. Sets
 * of more than 4 billion pairs are not searched. Errors: MEMORY. */
vit_status vit_duplicates_find(vit_duplicates *out, const vit_dataset *set, const vit_records *part,
                               int threads, vit_error *error);

/* copies: [training pictures in memory], zeroed = for each that equals, or nearly, a test picture:
 * it, that one, and how. Those of sets that are not searched stay as they are. */
vit_status vit_duplicates_of_test(vit_copy *copies, const vit_dataset *set, int threads,
                                  vit_error *error);

/* set->train.copies = the copies among the training pictures in memory, exact or nearly, if there
 * are any, with notes of them. Pictures of one colour are no copies. Errors: MEMORY. */
vit_status vit_duplicates_group(vit_dataset *set, int threads, vit_error *error);

/* Appends a copy of a row. Errors: MEMORY. */
vit_status vit_copy_list_add(vit_copy_list *list, const vit_listed_copy *row, vit_error *error);
void vit_copy_list_free(vit_copy_list *list);

/* Appends to set->copies: the copies within the training part, and for each picture of val and test
 * the training picture that it resembles; of a set with a test part alone, those within it. Only
 * pictures in files, that are in memory. Errors: MEMORY. */
vit_status vit_duplicates_list(vit_dataset *set, int threads, vit_error *error);

/* The same, and writes them as a table (vit/formats/copy_table.h), with a note of how many. IO if
 * the file is there and is no such table. */
vit_status vit_duplicates_save(const char *path, vit_dataset *set, int threads, vit_error *error);

/* Adds a note if val or test have pictures of the training part; it names two files. */
vit_status vit_duplicates_note(vit_dataset *set, int threads, vit_error *error);

#endif
