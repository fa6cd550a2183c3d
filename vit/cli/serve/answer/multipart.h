/* A body of multipart/form-data (RFC 7578), as browsers and curl -F send it, part by part. Nothing
 * is copied or changed. */
#ifndef VIT_CLI_SERVE_ANSWER_MULTIPART_H
#define VIT_CLI_SERVE_ANSWER_MULTIPART_H

#include "vit/base/error.h"

enum { SERVE_BOUNDARY_MAX = 70 }; /* RFC 2046 */

typedef struct serve_multipart {
    char delimiter[SERVE_BOUNDARY_MAX + 5]; /* "\r\n--BOUNDARY" */
    size_t delimiter_length;
    const uint8_t *data; /* of the body, from the last delimiter's end */
    size_t left;
    bool ended;
} serve_multipart;

typedef struct serve_part {
    char name[128], file[256]; /* "" where there is none */
    const uint8_t *data;
    size_t size;
} serve_part;

/* Whether a Content-Type says multipart/form-data; it may still have no boundary. */
bool serve_is_multipart(const char *content_type);

/* FORMAT where the boundary is missing or no boundary, or the body does not begin with it. */
vit_status serve_multipart_open(serve_multipart *multipart, const char *content_type,
                                const void *body, size_t size, vit_error *error);

/* The next part; *found false at the end. What is not as RFC 7578 has it is FORMAT. */
vit_status serve_multipart_next(serve_multipart *multipart, serve_part *part, bool *found,
                                vit_error *error);

#endif
