/* What the pictures of shards say of their classes: numbers, or names. */
#ifndef VIT_DATASETS_SHARDS_CLASS_TEXTS_H
#define VIT_DATASETS_SHARDS_CLASS_TEXTS_H

#include "datasets/folders/tree.h"
#include "datasets/reader.h"

/* The different texts, which are few; begins as {0}. */
typedef struct vit_class_texts {
    struct vit_class_text *texts; /* sorted */
    size_t count, capacity;
} vit_class_texts;

/* *id = the number of a text, those added before it counted. UNSUPPORTED if there are more than a
 * label can number; MEMORY. */
vit_status vit_class_texts_add(uint16_t *id, vit_class_texts *c, const char *text,
                               vit_error *error);

/* The text with this number; NULL: there is none. */
const char *vit_class_texts_get(const vit_class_texts *c, uint16_t id);

/* Sets the classes of the tree, and changes the labels of its files, which are ids of texts. If all
 * texts are numbers, these are indices, of the names in classes.txt or labels.txt if there is one;
 * else they are names, of that list or, sorted, the classes. Errors: FORMAT for texts that are not
 * in the list, and those of vit_label_list_read. */
vit_status vit_class_texts_resolve(vit_class_texts *c, vit_tree *tree, const vit_listing *directory,
                                   vit_error *error);

void vit_class_texts_free(vit_class_texts *c);

#endif
