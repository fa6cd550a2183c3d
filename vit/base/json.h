/* Reading small JSON objects (presets, configs) strictly: each key has a place and a type, unknown
 * ones are refused with the nearest known one. Parsing is jansson's. */
#ifndef VIT_BASE_JSON_H
#define VIT_BASE_JSON_H

#include "vit/base/error.h"
#include <jansson.h>

typedef enum vit_field_kind {
    VIT_FIELD_SIZE,   /* size_t, 0 .. 2^53 */
    VIT_FIELD_DOUBLE, /* double, finite */
    VIT_FIELD_BOOL,   /* bool */
    VIT_FIELD_ENUM,   /* int (an enum), by name among `names` */
    VIT_FIELD_OTHER,  /* known, but read by the caller */
} vit_field_kind;

typedef struct vit_field {
    const char *key;
    vit_field_kind kind;
    void *value;              /* left as it is when the key is absent */
    const char *const *names; /* ENUM: the name of value i, ended by NULL */
} vit_field;

/* Parses text as one JSON object (duplicate keys refused); freed by json_decref. `name` stands for
 * where the text came from. */
vit_status vit_json_parse(json_t **out, const char *text, size_t size, const char *name,
                          vit_error *error);

/* The same, but whole numbers become doubles, and so may be of any size. */
vit_status vit_json_parse_reals(json_t **out, const char *text, size_t size, const char *name,
                                vit_error *error);

/* Reads the fields of `object` into their places. */
vit_status vit_json_read(json_t *object, const vit_field *fields, size_t count, const char *name,
                         vit_error *error);

/* The known key that an unknown one probably means: another program's name for it
 * ("learning_rate" is "lr"), or the nearest in letters; NULL for none. */
const char *vit_json_nearest_key(const char *key, const char *const *keys, size_t count);

/* ["a", "b"] into strings in one block freed by vit_free. */
vit_status vit_json_strings(char ***out, size_t *count, const json_t *array, const char *name,
                            vit_error *error);

#endif
