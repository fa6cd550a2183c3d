/* Pictures of an index that are copies of each other: by the bytes of their files, or by pixels.
 * The files are read again; features have no part in it. */
#ifndef VIT_SEARCH_COPIES_H
#define VIT_SEARCH_COPIES_H

#include "vit/search/index.h"

typedef struct vit_index_copy {
    size_t first, second; /* rows */
    const char *alike;    /* "exact": the same bytes; "near": saved again; "mirrored"; "crop" */
} vit_index_copy;

/* Called for a picture that cannot be read, on the calling thread. */
typedef void vit_index_unread(const vit_error *problem, void *user);

/* *out = all pairs, in the order of their rows, an exact copy only with the first picture that it
 * equals; freed by vit_free. The same for any number of threads. Crops are looked for among at most
 * 10,000 pictures, and beyond 50,000 only exact copies are found. Errors: MEMORY. */
vit_status vit_index_copies(vit_index_copy **out, size_t *count, const vit_index *index,
                            int threads, vit_index_unread *unread, void *user, vit_error *error);

#endif
