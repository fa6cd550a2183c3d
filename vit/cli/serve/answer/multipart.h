/* Reads a body of multipart/form-data (RFC 7578), as browsers and curl -F send it, part by part.
 * The data are neither copied nor changed. */
#ifndef VIT_CLI_SERVE_ANSWER_MULTIPART_H
#define VIT_CLI_SERVE_ANSWER_MULTIPART_H

#include "vit/base/error.h"

enum { SERVE_BOUNDARY_MAX = 70 }; /* RFC 2046 */

typedef struct serve_multipart {
    char delimiter[SERVE_BOUNDARY_MAX + 5]; /* "\r\n--BOUNDARY" */
    size_t delimiter_length;
    const uint8_t *data; /* [left]: the rest of the body, after the last delimiter */
    size_t left;
} serve_multipart;

typedef struct serve_part {
    char name[128], file[256]; /* file: the name of a file, or "" */
    char type[64];             /* Content-Type, without parameters, or "" */
    const uint8_t *data;       /* [size], within the body */
    size_t size;
} serve_part;

/* Whether a Content-Type says multipart/form-data; its boundary may still be missing. */
bool serve_is_multipart(const char *content_type);

/* FORMAT if there is no Content-Type (NULL), if its boundary is missing or malformed, or if the
 * body does not begin with it. */
vit_status serve_multipart_open(serve_multipart *multipart, const char *content_type,
                                const void *body, size_t size, vit_error *error);

/* *part: the next part; *found: false at the end. FORMAT if it is not as in RFC 7578. */
vit_status serve_multipart_next(serve_multipart *multipart, serve_part *part, bool *found,
                                vit_error *error);

#endif
