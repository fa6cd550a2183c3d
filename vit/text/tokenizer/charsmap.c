#include "vit/text/tokenizer/charsmap.h"
#include "vit/base/sys.h"
#include <string.h>

void vit_charsmap_free(vit_charsmap *map) {
    if (!map) return;
    vit_free(map->units);
    vit_free(map->texts);
    vit_free(map);
}

static uint32_t read_u32(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The size of the trie in bytes, the trie, the texts. */
vit_status vit_charsmap_new(vit_charsmap **out, const uint8_t *bytes, size_t size, const char *name,
                            vit_error *error) {
    vit_charsmap *map = vit_alloc(1, sizeof *map);
    *out = map;
    if (!map) return vit_fail_memory(error, name, sizeof *map);
    if (size == 0) return VIT_OK;
    const size_t trie = size >= 4 ? read_u32(bytes) : SIZE_MAX;
    if (size < 4 || trie > size - 4 || trie % 4 != 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its table of %zu bytes that replaces characters is damaged", name,
                        size);
    map->count = trie / 4;
    map->size = size - 4 - trie + 1;
    map->units = vit_alloc(map->count, sizeof *map->units);
    map->texts = vit_alloc(map->size, 1);
    if (!map->units || !map->texts) return vit_fail_memory(error, name, size);
    for (size_t i = 0; i < map->count; i++) map->units[i] = read_u32(bytes + 4 + 4 * i);
    memcpy(map->texts, bytes + 4 + trie, map->size - 1);
    return VIT_OK;
}

/* A unit of the darts-clone library: bits 0-7 the label (of 32 with bit 31: the value, if that bit
 * is set), bit 8 whether a value hangs on it, bits 10-30 where its children are, times 256 with
 * bit 9. */
static uint32_t offset_of(uint32_t unit) {
    return (unit >> 10) << ((unit & 512) >> 6);
}

const char *vit_charsmap_find(const vit_charsmap *map, const char *text, size_t length,
                              bool longest, size_t *taken) {
    const char *found = NULL;
    if (map->count == 0) return NULL;
    size_t at = offset_of(map->units[0]);
    for (size_t i = 0; i < length && text[i] != 0; i++) {
        const uint8_t c = (uint8_t)text[i];
        at ^= c;
        if (at >= map->count || (map->units[at] & 0x800000ffu) != c) break;
        const uint32_t unit = map->units[at];
        at ^= offset_of(unit);
        if (!(unit & 256) || at >= map->count) continue;
        const size_t value = map->units[at] & 0x7fffffffu;
        if (value >= map->size) continue;
        found = map->texts + value;
        *taken = i + 1;
        if (!longest) break;
    }
    return found;
}
