/* The rule by which a table's columns are chosen: which names the pictures, which the classes,
 * which the parts. docs/data.md says it; the names stand here. */
#ifndef VIT_DATASETS_TABLES_COLUMNS_H
#define VIT_DATASETS_TABLES_COLUMNS_H

#include "datasets/folders/tree.h"
#include "datasets/tables/cells.h"

/* What a name of a column says. Case, spaces and signs between words do not count. */
typedef enum vit_column_role {
    VIT_COLUMN_FILE,
    VIT_COLUMN_CLASS, /* the usual names of classes */
    VIT_COLUMN_MAYBE, /* names that are those of classes if no other column is */
    VIT_COLUMN_SPLIT,
    VIT_COLUMN_FOLD, /* numbers of folds, which do not say what is the test */
    VIT_COLUMN_MARK, /* yes or no to one of the parts */
    VIT_COLUMN_BOX,  /* a table of boxes */
    VIT_COLUMN_KINDS
} vit_column_role;

/* The column with name number *i or a later one of the role, which *i then is; column_count: none.
 */
size_t vit_column_find(const vit_cells *c, vit_column_role role, size_t *i);

/* The column of this name; column_count: none. */
size_t vit_column_named(const vit_cells *c, const char *name);

/* Whether there may be pictures and classes in a table with these columns (vit_cells_wanted; user:
 * vit_table_options). */
bool vit_columns_wanted(const vit_cells *header, const void *user);

/* What a cell says of the class that its column is: 1, 0 or -1, also as true or false; 2: something
 * else. */
int vit_cell_one(const char *cell);

/* The part that a value of a column of splits names. evaluated: "eval" and "holdout" are the
 * validation part, as the column has a test, too. KINDS: unknown. */
vit_tree_kind vit_split_kind(const char *value, bool evaluated);

/* The columns that were chosen; column_count: none. */
typedef struct vit_columns {
    size_t file; /* chosen by the caller, before the others */
    size_t class, split;
    bool evaluated; /* as vit_split_kind has it */
    bool *ones;     /* [column_count] each of these is a class, with 1, or 0 (-1) if it is not;
                       NULL: `class` names it */
    size_t ones_count;
    bool has_others; /* columns were looked at for 1 and 0, and one has something else */
    char separator;  /* that of cells with several classes, ' ' for any white space; 0: one */
} vit_columns;

/* Chooses the columns of a table. is_part: its rows are those of a validation or test part, which
 * may be few. *is_ours: whether it has a column of files and one of classes, so that an error is
 * one of a table of pictures. The caller frees out->ones by vit_free. Errors: FORMAT for columns
 * that are no classes or are ambiguous, MEMORY. */
vit_status vit_columns_choose(vit_columns *out, bool *is_ours, const vit_cells *c,
                              const vit_table_options *options, bool is_part, vit_error *error);

#endif
