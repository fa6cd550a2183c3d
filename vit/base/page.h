/* HTML pages that need nothing but themselves: a template with its parts put in, bytes as base64.
 */
#ifndef VIT_BASE_PAGE_H
#define VIT_BASE_PAGE_H

#include "vit/base/text.h"

/* What stands in a template's place: a line "@name@" alone becomes the lines (as scripts/embed-text
 * has them, NULL at the end) or the text. */
typedef struct vit_page_part {
    const char *name;
    const char *const *lines; /* or NULL: text */
    const char *text;
} vit_page_part;

/* Appends the template's lines, each place filled. A place that no part fills stays as it is. */
void vit_text_add_page(vit_text *t, const char *const *lines, const vit_page_part *parts,
                       size_t count);

/* Appends JSON so that it can stand in a <script type="application/json">: '<', which it has within
 * strings alone, as \u003c. Names of classes and files come from strangers. */
void vit_text_add_script_json(vit_text *t, const char *json);

/* Appends bytes in base64 (RFC 4648, padded). */
void vit_text_add_base64(vit_text *t, const void *bytes, size_t size);

#endif
