/* What people bring that is not read, and what to do about it. */
#ifndef VIT_DATASETS_UNREAD_H
#define VIT_DATASETS_UNREAD_H

#include "vit/base/error.h"

/* What pictures without classes need. */
extern const char vit_unread_pictures[];

/* What to do about a file of this name; NULL: nothing is known. */
const char *vit_unread_advice(const char *name);

typedef struct vit_unread {
    char *path;         /* freed by vit_free; NULL: there is no such file */
    const char *advice; /* what to do about it */
    bool is_packed;     /* it holds the pictures, too, not their classes alone */
} vit_unread;

/* The first file in a directory, or in folders up to `depth` deep there, that holds pictures or
 * their classes and is not read. */
vit_unread vit_unread_find(const char *directory, int depth);

#endif
