/* The page of vit_explain_page: HTML about a picture and what a network does with it, which loads
 * nothing else. */
#ifndef VIT_EXPLAIN_EXPLAIN_PAGE_H
#define VIT_EXPLAIN_EXPLAIN_PAGE_H

#include "vit/base/sys.h"
#include "vit/explain/maps.h"
#include "vit/formats/json_out.h"

#define VIT_PAGE_MOST ((size_t)8000000) /* bytes of a page, at most */

typedef struct vit_page_call {
    vit_explainer *explainer;
    const uint8_t *pixels;     /* [height][width][channels], before it is normalised */
    const float *image;        /* [height][width][channels], normalised */
    const char *const *labels; /* [classes] */
    const vit_page_options *options;
} vit_page_call;

/* html->data is freed by vit_free. Errors: ARGUMENT for options that do not suit the network;
 * UNSUPPORTED for a page of more than VIT_PAGE_MOST bytes; MEMORY, FORMAT. */
vit_status vit_page_make(vit_bytes *html, const vit_page_call *call, vit_error *error);

/* 255 share, rounded; share is clamped to 0..1. */
uint8_t vit_page_byte(float share);

/* Adds "grid", "size" and "prefix", the names of the tokens before the patches; the picture as PNG:
 * "picture". Errors: MEMORY. */
void vit_page_add_sizes(vit_json_out *json, const vit_config *config);
vit_status vit_page_add_picture(vit_json_out *json, const vit_config *config, const uint8_t *pixels,
                                vit_error *error);

/* Ends the object that is the data of a page, and puts it into vit/explain/page/page.html;
 * html->data is freed by vit_free. MEMORY, also where json->text.failed is set. */
vit_status vit_page_fill(vit_bytes *html, vit_json_out *json, vit_error *error);

#endif
