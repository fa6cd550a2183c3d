/* Putting a folder of pictures into an index, for vit-search. */
#ifndef VIT_CLI_PARTS_INDEXING_H
#define VIT_CLI_PARTS_INDEXING_H

#include "vit/cli/parts/program.h"
#include "vit/search/index.h"

typedef struct vit_indexing {
    const vit_command *command; /* says what cannot be read */
    const char *out;            /* the file of the index */
    const char *model;          /* the path of the model */
    vit_session *session;
    vit_model_info info; /* of the model */
    /* results: pictures that were the same, new, changed, no longer there, not readable */
    uint64_t kept, added, changed, vanished, failed;
} vit_indexing;

/* hex = what the features of a fixed picture are: it tells models apart. */
vit_status vit_model_fingerprint(char hex[65], const vit_indexing *indexing, vit_error *error);

/* Brings the index up to the pictures in the folders now. Pictures of other folders stay as they
 * are. It may be killed at any moment and called again. */
vit_status vit_index_folders(vit_indexing *indexing, char **folders, size_t count,
                             vit_error *error);

#endif
