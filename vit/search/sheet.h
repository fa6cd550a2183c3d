/* A contact sheet: an HTML page with small pictures in it, which needs no other file. */
#ifndef VIT_SEARCH_SHEET_H
#define VIT_SEARCH_SHEET_H

#include "vit/base/text.h"

typedef struct vit_sheet_item {
    const char *path; /* of the picture; one that cannot be read has its name alone */
    float score;
} vit_sheet_item;

/* Appends the page. items[0..count) are computed on `threads` threads. */
void vit_string_add_sheet(vit_string *out, const char *title, const vit_sheet_item *items,
                          size_t count, int threads);

/* *png = the middle of a picture, 160 x 160 pixels, or less for a smaller one; freed by vit_free.
 * Errors: those of reading it. */
#define VIT_THUMBNAIL 160
vit_status vit_thumbnail(uint8_t **png, size_t *size, const char *path, vit_error *error);

#endif
