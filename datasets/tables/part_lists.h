/* Lists beside a table that say the parts of its pictures: a text that is called as a part, with
 * the name of a picture at the beginning of each line (NIH's train_val_list.txt and test_list.txt),
 * or a table of pictures and parts without classes (CelebA's list_eval_partition.csv). */
#ifndef VIT_DATASETS_TABLES_PART_LISTS_H
#define VIT_DATASETS_TABLES_PART_LISTS_H

#include "datasets/tables/listed_table.h"

/* Gives the rows of the tables the parts that lists in `root` say. *said: the lists, "a.txt and
 * b.txt", freed by vit_free; NULL: there is none that names a picture of a row. FORMAT if a list
 * contradicts a table or another list, or has a part that is unknown, or if lists of training
 * pictures leave one out. */
vit_status vit_part_lists_apply(char **said, vit_listed_table *tables, size_t count,
                                const char *root, vit_error *error);

#endif
