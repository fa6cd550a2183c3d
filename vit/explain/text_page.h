/* What a network attended to while it wrote a text, as a page of HTML that loads nothing else, and
 * as a picture. */
#ifndef VIT_EXPLAIN_TEXT_PAGE_H
#define VIT_EXPLAIN_TEXT_PAGE_H

#include "vit/base/sys.h"
#include "vit/model/run/network.h"

/* A text that was written, and the input: a picture or a source text; a language model has none. */
typedef struct vit_token_page_call {
    const vit_network *network;
    const vit_kernels *kernels;
    int threads;
    const char *title, *answer;
    const uint8_t *pixels;            /* [height][width][channels], or NULL */
    const float *image;               /* the same, normalised */
    vit_ids source, written;          /* without START and END */
    bool ended;                       /* `written` was followed by END */
    const char *const *source_signs;  /* [source.count] the text of each id */
    const char *const *written_signs; /* [written.count] */
} vit_token_page_call;

/* html->data is freed by vit_free. Errors: UNSUPPORTED, saying how large it would be, for a page of
 * more than VIT_PAGE_MOST bytes; MEMORY. */
vit_status vit_token_page_make(vit_bytes *html, const vit_token_page_call *call, vit_error *error);

/* The last block's attention as PNG, the mean of its heads. Of a picture: a map over it for each
 * token that was written. Of texts: a matrix with a row for each token that was written and a
 * column for each of the source, of a language model for each of its input. png->data is freed by
 * vit_free. Errors: MEMORY. */
vit_status vit_token_png_make(vit_bytes *png, const vit_token_page_call *call, vit_error *error);

#endif
