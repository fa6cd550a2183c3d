/* A page of HTML about a picture and a network, which needs nothing but itself. */
#ifndef VIT_EXPLAIN_PAGE_H
#define VIT_EXPLAIN_PAGE_H

#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/explain/maps.h"

/* Bytes of a page, at most. */
#define VIT_PAGE_MOST ((size_t)8000000)

/* As vit_explain_page has it; pixels and image: the picture before and after it is normalised;
 * labels: [classes]. */
typedef struct vit_page_call {
    vit_explainer *explainer;
    const uint8_t *pixels;
    const float *image;
    const char *const *labels;
    const vit_page_options *options;
} vit_page_call;

/* html->data is freed by vit_free. */
vit_status vit_page_make(vit_bytes *html, const vit_page_call *call, vit_error *error);

/* A share of 0..1, else the nearer end, as a byte. */
uint8_t vit_page_byte(float share);

/* A page of a template, vit/explain/page/, and what it shows; html->data is freed by vit_free. A
 * json that ran out of memory is MEMORY. */
vit_status vit_page_fill(vit_bytes *html, const char *const *lines, const vit_text *json,
                         vit_error *error);

#endif
