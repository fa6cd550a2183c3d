/* What a network looked at while it wrote a text: as a page of HTML that needs nothing but itself,
 * and as a picture. */
#ifndef VIT_EXPLAIN_TEXT_PAGE_H
#define VIT_EXPLAIN_TEXT_PAGE_H

#include "vit/base/sys.h"
#include "vit/model/network.h"

/* A text that was written, and what it was made of: a picture, before and after it is normalised,
 * or a source; of a language model neither. */
typedef struct vit_text_page_call {
    const vit_network *network;
    const vit_kernels *kernels;
    int threads;
    const char *title, *answer;
    const uint8_t *pixels;
    const float *image;
    vit_ids source, written;          /* without START and END */
    bool ended;                       /* after the last of `written` it wrote END */
    const char *const *source_signs;  /* [source.count] what each stands for */
    const char *const *written_signs; /* [written.count] */
} vit_text_page_call;

/* html->data is freed by vit_free. UNSUPPORTED, saying how large it would be, for a page of more
 * than VIT_PAGE_MOST bytes. */
vit_status vit_text_page_make(vit_bytes *html, const vit_text_page_call *call, vit_error *error);

/* As PNG the last block's attention, the mean of its heads: over the picture for each token that
 * was written; of texts a matrix, a row for each token that was written, a column for each of the
 * source's; of a language model for each that it was given. */
vit_status vit_text_png_make(vit_bytes *png, const vit_text_page_call *call, vit_error *error);

#endif
