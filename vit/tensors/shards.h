/* The index of a checkpoint in several files, as transformers writes it: a JSON object whose
 * "weight_map" says which file beside the index holds which tensor. */
#ifndef VIT_TENSORS_SHARDS_H
#define VIT_TENSORS_SHARDS_H

#include "vit/base/error.h"

#include <jansson.h>

/* Does a file begin as JSON does? */
bool vit_shards_probe(const uint8_t *bytes, size_t size);

/* *map: a JSON object, not empty, of names of tensors to names of files, each a plain name without
 * '/' that is not "." or ".."; freed by json_decref. `name` stands for the index in messages.
 * Errors: FORMAT. */
vit_status vit_shards_parse(json_t **map, const uint8_t *bytes, size_t size, const char *name,
                            vit_error *error);

#endif
