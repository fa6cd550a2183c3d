/* A map from texts to texts: a table with open addressing. Begins as {0}. */
#ifndef VIT_BASE_NAME_MAP_H
#define VIT_BASE_NAME_MAP_H

#include "vit/base/error.h"

typedef struct vit_name_map {
    struct vit_name_pair *pairs; /* [capacity], a power of two */
    size_t count, capacity;
} vit_name_map;

/* Copies both; replaces the value of a key that is there. */
vit_status vit_name_map_put(vit_name_map *names, const char *key, const char *value,
                            vit_error *error);

/* The value of a key, until it is replaced; NULL: it is not there. */
const char *vit_name_map_get(const vit_name_map *names, const char *key);

void vit_name_map_free(vit_name_map *names);

#endif
