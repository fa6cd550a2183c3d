/* Tables of file names and classes: metadata.csv and metadata.jsonl as Hugging Face's imagefolder
 * has them, train.csv and the like as Kaggle's competitions have them, and others of any name.
 * Which columns are taken, columns.h says. */
#ifndef VIT_DATASETS_TABLES_LISTED_H
#define VIT_DATASETS_TABLES_LISTED_H

#include "datasets/reader.h"
#include "datasets/tables/columns.h"

/* Whether a directory has a file that is called like such a table. */
bool vit_listed_is(const vit_listing *directory);

/* Finds the files of a directory by its tables, as vit_tree_scan does by its folders. *found:
 * whether there is a table of pictures that are there; if not, an error says why a table is not
 * one, and VIT_OK means that there is none. Two tables of the same part, and a table against
 * folders that name other classes, are FORMAT. */
vit_status vit_listed_scan(vit_tree *out, bool *found, const char *root, unsigned parts,
                           const vit_table_options *options, vit_error *error);

/* Sorts the files of a tree's parts, and makes of them the parts that vit_tree_scan would have.
 * FORMAT for a picture of two classes. */
vit_status vit_listed_choose_parts(vit_tree *tree, unsigned parts, vit_error *error);

#endif
