#include "vit/text/tokenizer/tokens.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/vocabulary.h"
#include <string.h>

#define BLOCK ((size_t)1 << 16)

char *vit_tokens_room(vit_tokenizer *t, size_t size) {
    if (size > t->room) {
        const size_t block = vit_max(size, BLOCK);
        if (!VIT_MAKE_ROOM(t->blocks, t->block_count, t->block_capacity, "tokens", NULL))
            return NULL;
        char *memory = vit_alloc_unset(block, 1);
        if (!memory) return NULL;
        t->blocks[t->block_count++] = memory;
        t->next = memory;
        t->room = block;
    }
    char *text = t->next;
    t->next += size;
    t->room -= size;
    return text;
}

vit_status vit_tokens_keep(vit_tokenizer *t, size_t id, char *text, size_t length, const char *name,
                           vit_error *error) {
    if (id >= VIT_MOST_IDS)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: the id %zu is above %zu", name, id,
                        VIT_MOST_IDS);
    if (id >= t->count) {
        size_t count = t->count < 1024 ? 1024 : t->count;
        while (count <= id) count *= 2;
        vit_token *tokens = vit_realloc(t->tokens, t->count, count, sizeof *tokens);
        if (!tokens) return vit_fail_memory(error, name, count * sizeof *tokens);
        t->tokens = tokens;
        t->count = count;
    }
    t->tokens[id] = (vit_token){.text = text, .length = (uint32_t)length};
    return VIT_OK;
}

vit_status vit_tokens_put(vit_tokenizer *t, size_t id, const char *text, size_t length,
                          const char *name, vit_error *error) {
    char *copy = vit_tokens_room(t, length + 1);
    if (!copy) return vit_fail_memory(error, name, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return vit_tokens_keep(t, id, copy, length, name, error);
}

/* ---- index ---- */

/* FNV-1a, with its upper bits mixed into the lower ones. Never 0. */
static uint32_t hash_of(const char *text, size_t length) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)text[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return (uint32_t)h | 1;
}

/* A slot is hash << 32 | id; 0: empty. */
static void place(uint64_t *slots, size_t mask, uint64_t slot) {
    size_t at = (size_t)(slot >> 33) & mask;
    while (slots[at] != 0) at = (at + 1) & mask;
    slots[at] = slot;
}

static vit_status grow(vit_tokenizer *t, vit_error *error) {
    const size_t old = t->slot_count, count = old == 0 ? 4096 : old * 2;
    uint64_t *slots = vit_alloc(count, sizeof *slots);
    if (!slots) return vit_fail_memory(error, "an index of tokens", count * sizeof *slots);
    for (size_t i = 0; i < old; i++)
        if (t->slots[i] != 0) place(slots, count - 1, t->slots[i]);
    vit_free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    return VIT_OK;
}

/* The slot of a text, or the empty one where it belongs. */
static uint64_t *slot_of(const vit_tokenizer *t, uint32_t hash, const char *text, size_t length) {
    const size_t mask = t->slot_count - 1;
    for (size_t at = (hash >> 1) & mask;; at = (at + 1) & mask) {
        const uint64_t slot = t->slots[at];
        if (slot == 0) return &t->slots[at];
        if (slot >> 32 != hash) continue;
        const vit_token *token = &t->tokens[(uint32_t)slot];
        if (token->text && token->length == length && memcmp(token->text, text, length) == 0)
            return &t->slots[at];
    }
}

vit_status vit_tokens_index(vit_tokenizer *t, size_t id, bool *again, vit_error *error) {
    if (2 * (t->indexed + 1) > t->slot_count) {
        const vit_status status = grow(t, error);
        if (status != VIT_OK) return status;
    }
    const vit_token *token = &t->tokens[id];
    const uint32_t hash = hash_of(token->text, token->length);
    uint64_t *slot = slot_of(t, hash, token->text, token->length);
    if (again) *again = *slot != 0;
    if (*slot == 0) t->indexed++;
    *slot = (uint64_t)hash << 32 | id;
    return VIT_OK;
}

uint32_t vit_tokens_find(const vit_tokenizer *t, const char *text, size_t length) {
    if (t->slot_count == 0) return VIT_NO_ID;
    const uint64_t slot = *slot_of(t, hash_of(text, length), text, length);
    return slot == 0 ? VIT_NO_ID : (uint32_t)slot;
}

uint32_t vit_tokens_look(const vit_tokenizer *t, const char *text) {
    const uint32_t found = vit_tokens_find(t, text, strlen(text));
    if (found != VIT_NO_ID) return found;
    for (size_t i = 0; i < t->count; i++)
        if (t->tokens[i].text && strcmp(t->tokens[i].text, text) == 0) return (uint32_t)i;
    return VIT_NO_ID;
}
