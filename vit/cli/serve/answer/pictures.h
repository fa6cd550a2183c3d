/* The pictures in the body of a request, in any of the forms in which clients send them. */
#ifndef VIT_CLI_SERVE_ANSWER_PICTURES_H
#define VIT_CLI_SERVE_ANSWER_PICTURES_H

#include "vit/base/json.h"
#include "vit/cli/serve/request.h"

typedef struct serve_pictures {
    vit_picture *pictures; /* [count] */
    size_t count, capacity;
    bool is_list; /* they were sent as a list, be it of one */
    void **owned; /* [count]: bytes to free, or NULL */
    char **names; /* [count]: the same */
} serve_pictures;

/* The body is a picture, or a form with files (multipart/form-data). False: `reply` says what is
 * wrong, and nothing is left to free. */
bool serve_read_pictures(serve_pictures *out, const serve_request *request, serve_reply *reply);

/* A string, or a list of strings or of {"image": string}: base64 or data URLs. `key` is what they
 * stand under, for messages. */
bool serve_read_strings(serve_pictures *out, const serve_request *request, const json_t *value,
                        const char *key, serve_reply *reply);

/* The body, or its first `size` bytes, as one JSON object; NULL: `reply` says what is wrong. Freed
 * by json_decref. */
json_t *serve_read_json(const serve_request *request, size_t size, serve_reply *reply);

/* For other forms: adds a picture. `name` is copied; `owned` (NULL: nobody's) is taken over. */
bool serve_add_picture(serve_pictures *pictures, const serve_request *request, const char *name,
                       const void *bytes, size_t size, void *owned, serve_reply *reply);

void serve_pictures_free(serve_pictures *pictures);

#endif
