/* The rows of a table of pictures and classes. */
#ifndef VIT_DATASETS_TABLES_LISTED_TABLE_H
#define VIT_DATASETS_TABLES_LISTED_TABLE_H

#include "datasets/tables/columns.h"
#include "datasets/tables/places.h"

typedef struct vit_listed_row {
    char *file, *class; /* as the table says; of several classes, each ends with a zero byte */
    size_t class_count;
    vit_tree_kind kind;
    bool is_said; /* its column, its table or its folder says the part; else it is for training */
    size_t line;
} vit_listed_row;

typedef struct vit_listed_table {
    char *path, *directory;
    vit_places places;
    vit_listed_row *rows;
    size_t row_count, row_capacity;
    vit_tree_kind kind;
    bool has_columns;  /* of files and of classes, so that an error is one of a table of ours */
    bool has_pictures; /* a column names pictures that are there */
    bool has_boxes;
    bool has_others; /* as vit_columns has it */
    char *source;    /* which column names the classes: "column label", "7 columns of 1 and 0" */
    char *parts;     /* which says the parts: "column split"; NULL: none */
} vit_listed_table;

/* Reads the rows of t->path, CSV or, by its name, JSON an object a line, by the rule of columns.h.
 * The column of files is the first of those that are called so whose pictures are there. Errors:
 * IO, FORMAT, MEMORY; t->has_columns says whether an error is one of a table of pictures and
 * classes. */
vit_status vit_listed_table_read(vit_listed_table *t, const vit_table_options *options,
                                 vit_error *error);
void vit_listed_table_clear(vit_listed_table *t);

#endif
