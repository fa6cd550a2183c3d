/* The tags of a picture, wherever a photo library keeps them. */
#ifndef VIT_PHOTOS_TAGS_H
#define VIT_PHOTOS_TAGS_H

#include "vit/base/error.h"

typedef struct vit_tag {
    char *path;    /* "Animals/Cat"; a word alone is a path of one part */
    bool is_plain; /* of a list of words: a '/' in it separates nothing, as in "AC/DC" */
} vit_tag;

typedef struct vit_tags {
    vit_tag *tags; /* [count], each path once */
    size_t count, capacity;
    size_t ours; /* that vit-classify --write-tags wrote, which are not among them */
} vit_tags;

/* Reads them from the sidecars of the picture (sidecars.h); if these have none, from the XMP packet
 * in its file; if that has none, from IPTC. Of XMP: digiKam:TagsList, lr:hierarchicalSubject, in
 * which | stands for /, and of dc:subject those that are no part of these. Tags under darktable and
 * _Digikam_Internal_Tags_ are of these programs, and are left out. Errors: IO, and those of
 * vit_xmp_read. Freed by vit_tags_free, also on failure. */
vit_status vit_tags_read(vit_tags *out, const char *picture, vit_error *error);
void vit_tags_free(vit_tags *tags);

#endif
