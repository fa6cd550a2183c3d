/* Lists of pictures that are left out of a set, or have another class than the data say
 * (docs/data.md, "Corrections"). */
#ifndef VIT_DATASETS_TABLES_CORRECTIONS_H
#define VIT_DATASETS_TABLES_CORRECTIONS_H

#include "datasets/dataset.h"
#include "datasets/folders/tree.h"

typedef struct vit_correction {
    char *picture;    /* as the list says it */
    char *label;      /* its class; NULL: it is left out */
    const char *list; /* the file that says so, and where */
    size_t line;
    vit_tree_file *file; /* the picture; NULL: not found */
} vit_correction;

typedef struct vit_corrections {
    vit_correction *items;
    size_t count, capacity;
} vit_corrections;

/* *out = those of both lists, of which either may be NULL; freed by vit_corrections_free, also on
 * failure. The lists must outlive them. Errors: those of vit_cells_read; FORMAT for a list without
 * a column of pictures, or of classes. */
vit_status vit_corrections_read(vit_corrections *out, const char *exclude, const char *relabel,
                                vit_error *error);

/* Finds the pictures in the tree, of which `root` is the directory, sets is_left_out of those that
 * are left out and the label of the others, and says in notes of `set` how many. *set gets the
 * checksum that it has without them, and `corrected`. is_whole: all parts of the data were read, so
 * that every picture must be among them; else a file in `root` may be of another part. Errors:
 * FORMAT for unknown pictures and classes, and for two lines that disagree, MEMORY. */
vit_status vit_corrections_apply(vit_corrections *c, vit_dataset *set, vit_tree *tree,
                                 const char *root, bool is_whole, vit_error *error);

void vit_corrections_free(vit_corrections *corrections);

#endif
