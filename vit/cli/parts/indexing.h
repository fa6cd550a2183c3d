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
    uint64_t cut; /* bytes of a block that was not finished, which were cut off */
} vit_indexing;

/* The picture, as bytes of a network's input, whose features tell models apart; and the text for
 * its features. */
void vit_fingerprint_picture(uint8_t *picture, size_t size);
void vit_fingerprint_text(char hex[65], const float *features, size_t count);

/* hex = the fingerprint of the session's model. */
vit_status vit_model_fingerprint(char hex[65], const vit_indexing *indexing, vit_error *error);

/* Brings the index up to the pictures in the folders now. Pictures of other folders stay as they
 * are. It may be killed at any moment and called again. */
vit_status vit_index_folders(vit_indexing *indexing, char **folders, size_t count,
                             vit_error *error);

#endif
