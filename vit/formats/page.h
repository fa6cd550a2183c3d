/* HTML pages that need no other files: a template into which parts are put, and bytes as base64. */
#ifndef VIT_FORMATS_PAGE_H
#define VIT_FORMATS_PAGE_H

#include "vit/base/text.h"

/* A part of a page: a line "@name@" of the template is replaced by the lines (as scripts/embed-text
 * makes them, NULL at the end) or by JSON for a <script type="application/json">: its '<', which
 * stand in strings only, become \u003c, so that no name of a class or a file can end the script. */
typedef struct vit_page_part {
    const char *name;
    const char *const *lines; /* or NULL: json */
    const char *json;         /* NULL: there was no memory for it, so there is none for the page */
} vit_page_part;

/* Appends the lines of the template with the parts in their places. A line "@name@" for which there
 * is no part is copied. */
void vit_string_add_page(vit_string *t, const char *const *lines, const vit_page_part *parts,
                         size_t count);

/* Appends text for HTML and SVG: & < > " ' become entities, a byte that is no UTF-8 U+FFFD. */
void vit_string_add_html(vit_string *t, const char *text);

#endif
