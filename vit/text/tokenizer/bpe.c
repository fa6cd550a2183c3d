/* Byte pair encoding: characters become tokens, then again and again the pair of the lowest rank,
 * of equal ones the first, becomes one. */
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokens.h"
#include <stdio.h>
#include <string.h>

/* ---- table of merges ---- */

static size_t slot_of(const vit_encoder *e, uint64_t pair) {
    uint64_t h = pair * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    return (size_t)h & (e->merge_slots - 1);
}

static vit_merge *find_merge(const vit_encoder *e, uint32_t left, uint32_t right) {
    const uint64_t pair = (uint64_t)left << 32 | right;
    size_t at = slot_of(e, pair);
    while (e->merges[at].id != VIT_NO_ID && e->merges[at].pair != pair)
        at = (at + 1) & (e->merge_slots - 1);
    return &e->merges[at];
}

vit_status vit_merges_room(vit_encoder *e, size_t count, vit_error *error) {
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    e->merges = vit_alloc_unset(slots, sizeof *e->merges);
    if (!e->merges) return vit_fail_memory(error, "merges", slots * sizeof *e->merges);
    memset(e->merges, 0xff, slots * sizeof *e->merges);
    e->merge_slots = slots;
    return VIT_OK;
}

static vit_status refuse(const char *text, size_t length, uint32_t rank, const char *name,
                         vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: merge %u: \"%.*s\" is not in the vocabulary",
                    name, rank + 1, (int)(length < 60 ? length : 60), text);
}

vit_status vit_merges_put(vit_tokenizer *t, const char *left, size_t left_length, const char *right,
                          size_t right_length, uint32_t rank, const char *name, vit_error *error) {
    char whole[1024];
    const size_t skip = t->encoder->prefix ? strlen(t->encoder->prefix) : 0;
    const uint32_t a = vit_tokens_find(t, left, left_length);
    const uint32_t b = vit_tokens_find(t, right, right_length);
    if (a == VIT_NO_ID) return refuse(left, left_length, rank, name, error);
    if (b == VIT_NO_ID) return refuse(right, right_length, rank, name, error);
    if (skip > right_length || left_length + right_length - skip > sizeof whole)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: merge %u makes no token of 1 to %zu bytes", name, rank + 1,
                        sizeof whole);
    memcpy(whole, left, left_length);
    memcpy(whole + left_length, right + skip, right_length - skip);
    const size_t length = left_length + right_length - skip;
    const uint32_t id = vit_tokens_find(t, whole, length);
    if (id == VIT_NO_ID) return refuse(whole, length, rank, name, error);
    *find_merge(t->encoder, a, b) = (vit_merge){(uint64_t)a << 32 | b, rank, id};
    return VIT_OK;
}

/* The ids of the tokens of single bytes. All of them, or none is used. */
void vit_bytes_prepare(vit_tokenizer *t) {
    for (unsigned i = 0; i < 256; i++) {
        char text[8];
        const int length = snprintf(text, sizeof text, "<0x%02X>", i);
        t->encoder->byte_ids[i] = vit_tokens_find(t, text, (size_t)length);
    }
}

/* ---- a word ---- */

#define NONE SIZE_MAX

/* A token of the word: text[at..at + length), or VIT_NO_ID. */
typedef struct symbol {
    size_t at, length, last, next;
    uint32_t id;
    bool whole; /* is merged with no other */
} symbol;

/* A pair that may be merged; size: the length of both, by which an old one is known. */
typedef struct pair {
    double rank;
    size_t left, size;
    uint32_t id;
} pair;

typedef struct word {
    const vit_tokenizer *t;
    const char *text;
    symbol *symbols;
    size_t count, capacity;
    pair *heap;
    size_t pairs, pair_capacity;
    vit_error *error;
} word;

static vit_status add_symbol(word *w, size_t at, size_t length, uint32_t id) {
    if (!VIT_MAKE_ROOM(w->symbols, w->count, w->capacity, "a word", w->error))
        return VIT_ERROR_MEMORY;
    w->symbols[w->count] = (symbol){at, length, w->count - 1, w->count + 1, id, false};
    w->count++;
    return VIT_OK;
}

static bool before(const pair *a, const pair *b) {
    return a->rank < b->rank || (a->rank == b->rank && a->left < b->left);
}

static void swap(pair *a, pair *b) {
    const pair c = *a;
    *a = *b;
    *b = c;
}

static vit_status push(word *w, pair p) {
    if (!VIT_MAKE_ROOM(w->heap, w->pairs, w->pair_capacity, "a word", w->error))
        return VIT_ERROR_MEMORY;
    pair *heap = w->heap;
    size_t i = w->pairs++;
    for (heap[i] = p; i > 0 && before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
    return VIT_OK;
}

static pair pop(word *w) {
    pair *heap = w->heap;
    const pair top = heap[0];
    heap[0] = heap[--w->pairs];
    for (size_t i = 0, child; (child = 2 * i + 1) < w->pairs; i = child) {
        if (child + 1 < w->pairs && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &heap[i])) break;
        swap(&heap[child], &heap[i]);
    }
    return top;
}

/* Offers the pair of a symbol and the next one. */
static vit_status offer(word *w, size_t left) {
    if (left == NONE || w->symbols[left].next == NONE) return VIT_OK;
    const vit_encoder *e = w->t->encoder;
    const symbol *a = &w->symbols[left], *b = &w->symbols[a->next];
    pair p = {0, left, a->length + b->length, VIT_NO_ID};
    if (a->whole || b->whole) return VIT_OK;
    if (e->kind == VIT_ENCODER_SENTENCE_BPE) {
        p.id = vit_tokens_find(w->t, w->text + a->at, p.size);
        if (p.id != VIT_NO_ID && !vit_is_piece(e, p.id)) p.id = VIT_NO_ID;
        if (p.id != VIT_NO_ID) p.rank = -(double)e->rounded[p.id];
    } else if (a->id != VIT_NO_ID && b->id != VIT_NO_ID && e->merge_slots > 0) {
        const vit_merge *m = find_merge(e, a->id, b->id);
        p.id = m->id;
        p.rank = m->rank;
    }
    return p.id == VIT_NO_ID ? VIT_OK : push(w, p);
}

static vit_status merge_all(word *w) {
    vit_status status = VIT_OK;
    if (w->count == 0) return VIT_OK;
    w->symbols[0].last = NONE;
    w->symbols[w->count - 1].next = NONE;
    for (size_t i = 0; i < w->count && status == VIT_OK; i++) status = offer(w, i);
    while (w->pairs > 0 && status == VIT_OK) {
        const pair p = pop(w);
        symbol *a = &w->symbols[p.left];
        if (a->length == 0 || a->next == NONE) continue;
        symbol *b = &w->symbols[a->next];
        if (a->length + b->length != p.size) continue;
        a->length = p.size;
        a->id = p.id;
        b->length = 0;
        a->next = b->next;
        if (b->next != NONE) w->symbols[b->next].last = p.left;
        status = offer(w, a->last);
        if (status == VIT_OK) status = offer(w, p.left);
    }
    return status;
}

/* ---- characters ---- */

/* The token of a character: with the prefix, if it is not the first of its word, and the suffix, if
 * it is the last. */
static uint32_t character_id(const vit_tokenizer *t, const char *text, size_t length, bool first,
                             bool last) {
    const vit_encoder *e = t->encoder;
    char whole[256];
    if ((first || !e->prefix) && (!last || !e->suffix)) return vit_tokens_find(t, text, length);
    const int n = snprintf(whole, sizeof whole, "%s%.*s%s", first || !e->prefix ? "" : e->prefix,
                           (int)length, text, last && e->suffix ? e->suffix : "");
    return n > 0 && (size_t)n < sizeof whole ? vit_tokens_find(t, whole, (size_t)n) : VIT_NO_ID;
}

/* Adds a token for each byte; *done false: some byte has none. The affixes of a character count. */
static vit_status add_bytes(word *w, size_t at, size_t length, bool *done) {
    const vit_encoder *e = w->t->encoder;
    vit_status status = VIT_OK;
    *done = true;
    for (size_t i = 0; i < length; i++)
        if (e->byte_ids[(uint8_t)w->text[at + i]] == VIT_NO_ID) *done = false;
    for (size_t i = 0; i < length && *done && status == VIT_OK; i++)
        status = add_symbol(w, at + i, 1, e->byte_ids[(uint8_t)w->text[at + i]]);
    return status;
}

/* Unknown characters that wait, as in the library tokenizers: bytes that follow come before them.
 */
typedef struct unknown {
    size_t at, length;
} unknown;

static vit_status flush_unknown(word *w, unknown *u) {
    if (u->length == 0) return VIT_OK;
    const vit_status status = add_symbol(w, u->at, u->length, w->t->encoder->unknown);
    u->length = 0;
    return status;
}

static vit_status add_unknown(word *w, unknown *u, size_t at, size_t length) {
    const vit_encoder *e = w->t->encoder;
    vit_status status = VIT_OK;
    if (e->unknown == VIT_NO_ID) return VIT_OK; /* it is left out */
    if (u->length > 0 && e->fuses_unknown) {
        u->length += length;
        return VIT_OK;
    }
    status = flush_unknown(w, u);
    *u = (unknown){at, length};
    return status;
}

static vit_status add_characters(word *w, size_t length) {
    const vit_encoder *e = w->t->encoder;
    vit_status status = VIT_OK;
    unknown u = {0, 0};
    for (size_t at = 0; at < length && status == VIT_OK;) {
        uint32_t c, user;
        const size_t whole = vit_user_piece(&user, w->t, w->text + at, length - at);
        if (whole > 0) {
            status = add_symbol(w, at, whole, user);
            if (status == VIT_OK) w->symbols[w->count - 1].whole = true;
            at += whole;
            continue;
        }
        const size_t bytes = vit_utf8_get(&c, w->text + at);
        const uint32_t id = character_id(w->t, w->text + at, bytes, at == 0, at + bytes == length);
        bool done = false;
        if (e->kind == VIT_ENCODER_SENTENCE_BPE) {
            const bool known = id != VIT_NO_ID && vit_is_piece(e, id);
            status = add_symbol(w, at, bytes, known ? id : VIT_NO_ID);
        } else if (id != VIT_NO_ID) {
            status = flush_unknown(w, &u);
            if (status == VIT_OK) status = add_symbol(w, at, bytes, id);
        } else {
            if (e->byte_fallback) status = add_bytes(w, at, bytes, &done);
            if (status == VIT_OK && !done) status = add_unknown(w, &u, at, bytes);
        }
        at += bytes;
    }
    return status == VIT_OK ? flush_unknown(w, &u) : status;
}

/* ---- ids ---- */

/* SentencePiece: what no token came of is bytes, or one unknown token for a row of them. */
static vit_status put_loose(vit_ids_list *out, const word *w, const symbol *s, bool *was_unknown) {
    const vit_encoder *e = w->t->encoder;
    vit_status status = VIT_OK;
    if (!e->byte_fallback) {
        if (!*was_unknown) status = vit_ids_put(out, e->unknown, w->error);
        *was_unknown = true;
        return status;
    }
    for (size_t i = 0; i < s->length && status == VIT_OK; i++)
        status = vit_ids_put(out, e->byte_ids[(uint8_t)w->text[s->at + i]], w->error);
    return status;
}

static vit_status put_ids(vit_ids_list *out, const word *w) {
    bool was_unknown = false;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < w->count && status == VIT_OK; i = w->symbols[i].next) {
        const symbol *s = &w->symbols[i];
        if (s->id == VIT_NO_ID) {
            status = put_loose(out, w, s, &was_unknown);
        } else {
            status = vit_ids_put(out, s->id, w->error);
            was_unknown = false;
        }
    }
    return status;
}

vit_status vit_encode_bpe(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                          size_t length, vit_error *error) {
    word w = {.t = t, .text = text, .error = error};
    vit_status status = VIT_OK;
    if (t->encoder->whole_first) {
        const uint32_t id = vit_tokens_find(t, text, length);
        if (id != VIT_NO_ID) return vit_ids_put(out, id, error);
    }
    status = add_characters(&w, length);
    if (status == VIT_OK) status = merge_all(&w);
    if (status == VIT_OK) status = put_ids(out, &w);
    vit_free(w.symbols);
    vit_free(w.heap);
    return status;
}
