/* The XMP sidecars of a picture: PICTURE.jpg.xmp, as digiKam and darktable write it, and
 * PICTURE.xmp, as Lightroom does, also in capitals. */
#ifndef VIT_PHOTOS_SIDECARS_H
#define VIT_PHOTOS_SIDECARS_H

#include "vit/base/error.h"

#define VIT_SIDECARS_MOST 4

typedef struct vit_sidecars {
    char *paths[VIT_SIDECARS_MOST]; /* [count], each allocated; those with the picture's whole name
                                       come first */
    bool is_shared[VIT_SIDECARS_MOST]; /* another file there has the same name up to the ending, so
                                          that PICTURE.xmp is also that one's */
    size_t count;
} vit_sidecars;

/* Finds those that are regular files, no links. Freed by vit_sidecars_free, also on failure. */
vit_status vit_sidecars_find(vit_sidecars *out, const char *picture, vit_error *error);
void vit_sidecars_free(vit_sidecars *sidecars);

#endif
