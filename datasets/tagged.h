/* Pictures whose classes are the tags of a photo library. */
#ifndef VIT_DATASETS_TAGGED_H
#define VIT_DATASETS_TAGGED_H

#include "datasets/tree.h"

/* Finds the files of a directory, at any depth, as vit_tree_scan does, with the classes that their
 * tags say (vit/photos/tags.h). branch: "Animals/" or "Animals": tags under it, without it; "": all
 * tags. With options->multi_label a picture has every class on the way to each of its tags,
 * "Cat" and "Cat/Siamese"; else one, and FORMAT names a picture that has two. Folders called as
 * parts are (train/, val/, test/), directly in `root`, are parts. Pictures without such a tag are
 * left out. */
vit_status vit_tagged_scan(vit_tree *out, const char *root, unsigned parts, const char *branch,
                           const vit_table_options *options, int threads, vit_error *error);

#endif
