/* Sets of characters, as the classes of regular expressions are: [^\s\p{L}a-f]. They are numbered
 * from 0. */
#ifndef VIT_TEXT_UNICODE_CHARACTER_SETS_H
#define VIT_TEXT_UNICODE_CHARACTER_SETS_H

#include "vit/base/error.h"

typedef enum vit_set_kind {
    VIT_SET_RANGE,      /* a .. b */
    VIT_SET_CATEGORIES, /* a: bits of categories */
    VIT_SET_CHARACTERS, /* a: a vit_characters */
} vit_set_kind;

/* A part of a set. */
typedef struct vit_set_item {
    vit_set_kind kind;
    bool negated;
    uint32_t a, b;
} vit_set_item;

typedef struct vit_set {
    size_t first, count; /* of its items */
    bool negated, any_case;
    uint64_t ascii[2]; /* the answers for the first 128 characters */
} vit_set;

/* Zeroed, there is none. */
typedef struct vit_character_sets {
    vit_set *sets;
    vit_set_item *items;
    size_t count, capacity, item_count, item_capacity;
} vit_character_sets;

/* Adds an item; then makes a set of all items since the last one, in which case matters or not.
 * Errors: MEMORY. */
vit_status vit_sets_add_item(vit_character_sets *s, vit_set_item item, vit_error *error);
vit_status vit_sets_close(vit_character_sets *s, bool negated, bool any_case, vit_error *error);

bool vit_sets_have(const vit_character_sets *s, size_t set, uint32_t c);

void vit_sets_free(vit_character_sets *s);

#endif
