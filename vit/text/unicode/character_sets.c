#include "vit/text/unicode/character_sets.h"
#include "vit/base/sys.h"
#include "vit/text/unicode/unicode.h"

/* Letters that differ in case only have the same. */
static uint32_t fold(uint32_t c) {
    uint32_t to[2];
    if (c == 0x17f) return 's';
    vit_lower(to, c);
    return to[0];
}

static bool item_has(const vit_set_item *i, uint32_t c) {
    switch (i->kind) {
    case VIT_SET_RANGE:
        return (c >= i->a && c <= i->b) != i->negated;
    case VIT_SET_CATEGORIES:
        return ((i->a >> vit_category_of(c) & 1) != 0) != i->negated;
    case VIT_SET_CHARACTERS:
        return vit_is_one_of((vit_characters)i->a, c) != i->negated;
    }
    return false;
}

static bool items_have(const vit_character_sets *all, const vit_set *s, uint32_t c) {
    bool has = false;
    for (size_t i = 0; i < s->count && !has; i++) {
        const vit_set_item *at = &all->items[s->first + i];
        has = item_has(at, c);
        if (!has && s->any_case && at->kind == VIT_SET_RANGE)
            has = item_has(at, fold(c)) || (at->a == at->b && fold(at->a) == fold(c));
    }
    return has != s->negated;
}

bool vit_sets_have(const vit_character_sets *all, size_t set, uint32_t c) {
    const vit_set *s = &all->sets[set];
    if (c < 128) return (s->ascii[c / 64] >> (c % 64) & 1) != 0;
    return items_have(all, s, c);
}

vit_status vit_sets_add_item(vit_character_sets *all, vit_set_item item, vit_error *error) {
    if (!VIT_MAKE_ROOM(all->items, all->item_count, all->item_capacity, "an expression", error))
        return VIT_ERROR_MEMORY;
    all->items[all->item_count++] = item;
    return VIT_OK;
}

vit_status vit_sets_close(vit_character_sets *all, bool negated, bool any_case, vit_error *error) {
    const size_t last = all->count;
    const size_t first = last > 0 ? all->sets[last - 1].first + all->sets[last - 1].count : 0;
    if (!VIT_MAKE_ROOM(all->sets, all->count, all->capacity, "an expression", error))
        return VIT_ERROR_MEMORY;
    vit_set *s = &all->sets[all->count++];
    *s = (vit_set){first, all->item_count - first, negated, any_case, {0, 0}};
    for (uint32_t k = 0; k < 128; k++)
        if (items_have(all, s, k)) s->ascii[k / 64] |= (uint64_t)1 << (k % 64);
    return VIT_OK;
}

void vit_sets_free(vit_character_sets *all) {
    vit_free(all->sets);
    vit_free(all->items);
}
