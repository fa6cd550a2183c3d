/* The rows of a table of pictures and classes. */
#ifndef VIT_DATASETS_LISTED_TABLE_H
#define VIT_DATASETS_LISTED_TABLE_H

#include "datasets/tree.h"

typedef struct vit_listed_row {
    char *file, *class; /* as the table says; of several classes, each ends with a zero byte */
    size_t class_count;
    vit_tree_kind kind;
    size_t line;
} vit_listed_row;

/* Where a table's pictures may lie: beside it, and in the folders there. */
#define MOST_PLACES 64
typedef struct vit_listed_table {
    char *path, *directory;
    char *places[MOST_PLACES];
    size_t place_count, last; /* last: where the last picture was found */
    vit_listed_row *rows;
    size_t row_count, row_capacity;
    vit_tree_kind kind;
    bool has_columns; /* of files and of classes, so that an error is one of a table of ours */
    bool multi_label;
} vit_listed_table;

/* Reads the rows of t->path, CSV or, by its name, JSON an object a line. Errors: IO, FORMAT,
 * MEMORY; t->has_columns says whether an error is one of a table of pictures and classes. */
vit_status vit_listed_table_read(vit_listed_table *t, vit_error *error);
void vit_listed_table_clear(vit_listed_table *t);

#endif
