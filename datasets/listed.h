/* Tables of file names and classes: metadata.csv and metadata.jsonl as Hugging Face's imagefolder
 * has them, train.csv and the like as Kaggle's competitions have them. */
#ifndef VIT_DATASETS_LISTED_H
#define VIT_DATASETS_LISTED_H

#include "datasets/reader.h"
#include "datasets/tree.h"

/* Whether a directory has a file that is called like such a table. */
bool vit_listed_is(const vit_listing *directory);

/* Finds the files of a directory by its tables, as vit_tree_scan does by its folders. *found:
 * whether there is a table of pictures that are there; if not, an error says why a table is not
 * one, and VIT_OK means that there is none. multi_label: a picture may have several classes, or
 * none: names separated by semicolons, or by white space if the table has no semicolon; a list in
 * JSON; or 0 and 1 in a column of each class. */
vit_status vit_listed_scan(vit_tree *out, bool *found, const char *root, unsigned parts,
                           bool multi_label, vit_error *error);

#endif
