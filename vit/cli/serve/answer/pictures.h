/* Finds the pictures in the body of a request, in any of the forms in which clients send them. */
#ifndef VIT_CLI_SERVE_ANSWER_PICTURES_H
#define VIT_CLI_SERVE_ANSWER_PICTURES_H

#include "vit/cli/serve/request.h"
#include "vit/formats/json.h"

typedef struct serve_pictures {
    vit_picture *pictures; /* [count]; the names are owned */
    size_t count, capacity;
    bool is_list;    /* they were sent as a list, perhaps of one */
    bool owns_bytes; /* of the pictures; else they are those of the request */
} serve_pictures;

/* The body is a picture, or a form with files (multipart/form-data), whose other fields become
 * arguments of the request (serve_take_field). False: `reply` is an error, and there is nothing to
 * free. Freed by serve_pictures_free. */
bool serve_read_pictures(serve_pictures *out, serve_request *request, serve_reply *reply);

/* The same for pictures in JSON: the value of `key` is a string, or a list of strings or of
 * {"image": string}, each base64 or a data URL. It is taken out of the object. */
bool serve_read_strings(serve_pictures *out, const serve_request *request, json_t *object,
                        const char *key, serve_reply *reply);

/* Adds a picture that is a string, base64 or a data URL, or {"image": string}; `key`: where it
 * stood in the JSON. */
bool serve_add_string(serve_pictures *pictures, const serve_request *request, const json_t *value,
                      const char *key, serve_reply *reply);

/* The first `size` bytes of the body as a JSON object, freed by json_decref; NULL: `reply` is an
 * error. Long arrays of numbers stay in the body: numbers.h. */
json_t *serve_read_json(const serve_request *request, size_t size, serve_reply *reply);

/* Adds a picture, for other forms. `name` is copied, `bytes` are not. */
bool serve_add_picture(serve_pictures *pictures, const serve_request *request, const char *name,
                       const void *bytes, size_t size, serve_reply *reply);

void serve_pictures_free(serve_pictures *pictures);

#endif
