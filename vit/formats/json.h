/* Strict reading of small JSON objects (presets, configs) with jansson: each key has a type and a
 * variable, unknown keys are errors whose message names the nearest known one. Messages call the
 * JSON `name`. Errors: FORMAT, MEMORY. */
#ifndef VIT_FORMATS_JSON_H
#define VIT_FORMATS_JSON_H

#include "vit/base/error.h"
#include <jansson.h>

typedef enum vit_field_kind {
    VIT_FIELD_SIZE,   /* size_t, 0 .. 2^53 */
    VIT_FIELD_DOUBLE, /* double, finite */
    VIT_FIELD_BOOL,   /* bool */
    VIT_FIELD_ENUM,   /* int (an enum), by name among `names` */
    VIT_FIELD_OTHER,  /* a known key that the caller reads itself */
} vit_field_kind;

typedef struct vit_field {
    const char *key;
    vit_field_kind kind;
    void *value;              /* not changed if the key is missing */
    const char *const *names; /* ENUM: the name of value i, ended by NULL */
} vit_field;

/* *out = the JSON object that the text is, without duplicate keys; freed by json_decref. */
vit_status vit_json_parse(json_t **out, const char *text, size_t size, const char *name,
                          vit_error *error);

/* The same, but whole numbers are read as doubles, so that they may have any size. */
vit_status vit_json_parse_reals(json_t **out, const char *text, size_t size, const char *name,
                                vit_error *error);

/* Reads the fields of `object` into their variables. */
vit_status vit_json_read(json_t *object, const vit_field *fields, size_t count, const char *name,
                         vit_error *error);

/* The known key that an unknown one probably means: what other programs call it ("learning_rate"
 * for "lr"), or else the one with the most similar spelling; NULL: none. */
const char *vit_json_nearest_key(const char *key, const char *const *keys, size_t count);

/* Without the spelling: the known key that is called so, or in other programs; NULL: none. */
const char *vit_json_known_key(const char *key, const char *const *keys, size_t count);

/* *out = the strings of an array ["a", "b"], one block freed by vit_free. */
vit_status vit_json_strings(char ***out, size_t *count, const json_t *array, const char *name,
                            vit_error *error);

#endif
