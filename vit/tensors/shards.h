/* The index of a sharded checkpoint, as transformers writes it: a JSON object whose "weight_map"
 * says which file beside the index has which tensor. */
#ifndef VIT_TENSORS_SHARDS_H
#define VIT_TENSORS_SHARDS_H

#include "vit/base/error.h"

#include <jansson.h>

/* Whether the file begins like a JSON object. */
bool vit_shards_probe(const uint8_t *bytes, size_t size);

/* *map = the "weight_map", a JSON object that is not empty: names of tensors to names of files,
 * without '/' and not "." or ".."; freed by json_decref. Messages call the index `name`. Errors:
 * FORMAT. */
vit_status vit_shards_parse(json_t **map, const uint8_t *bytes, size_t size, const char *name,
                            vit_error *error);

#endif
