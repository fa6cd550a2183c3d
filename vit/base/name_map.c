#include "vit/base/name_map.h"

#include <string.h>

#include "vit/base/sys.h"

typedef struct vit_name_pair {
    char *key, *value; /* key NULL: free */
} pair;

/* FNV-1a */
static size_t hash(const char *key) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *key; key++) h = (h ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* Where the key is, or a free place for it. There always is one. */
static pair *find(const vit_name_map *n, const char *key) {
    size_t at = hash(key) & (n->capacity - 1);
    while (n->pairs[at].key && strcmp(n->pairs[at].key, key) != 0)
        at = (at + 1) & (n->capacity - 1);
    return &n->pairs[at];
}

static vit_status grow(vit_name_map *n, vit_error *error) {
    vit_name_map larger = {.count = n->count, .capacity = n->capacity > 0 ? 2 * n->capacity : 64};
    if (2 * (n->count + 1) <= n->capacity) return VIT_OK;
    larger.pairs = vit_alloc(larger.capacity, sizeof *larger.pairs);
    if (!larger.pairs)
        return vit_fail_memory(error, "names", larger.capacity * sizeof *larger.pairs);
    for (size_t i = 0; i < n->capacity; i++)
        if (n->pairs[i].key) *find(&larger, n->pairs[i].key) = n->pairs[i];
    vit_free(n->pairs);
    *n = larger;
    return VIT_OK;
}

vit_status vit_name_map_put(vit_name_map *n, const char *key, const char *value, vit_error *error) {
    const vit_status status = grow(n, error);
    if (status != VIT_OK) return status;
    pair *at = find(n, key);
    char *text = vit_strdup(value), *name = at->key ? at->key : vit_strdup(key);
    if (!text || !name) {
        vit_free(text);
        if (!at->key) vit_free(name);
        return vit_fail_memory(error, "a name", strlen(key));
    }
    n->count += !at->key;
    vit_free(at->value);
    *at = (pair){name, text};
    return VIT_OK;
}

const char *vit_name_map_get(const vit_name_map *n, const char *key) {
    return n->capacity > 0 ? find(n, key)->value : NULL;
}

void vit_name_map_free(vit_name_map *n) {
    for (size_t i = 0; i < n->capacity; i++) {
        vit_free(n->pairs[i].key);
        vit_free(n->pairs[i].value);
    }
    vit_free(n->pairs);
    *n = (vit_name_map){0};
}
