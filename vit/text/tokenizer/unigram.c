/* A unigram model: the pieces of a text are those with the greatest sum of scores (Viterbi). */
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokens.h"
#include <float.h>

/* ---- beginnings of pieces ---- */

/* A rolling hash of text[0..n), n = 1, 2, ... */
#define HASH_START 0xcbf29ce484222325u
static uint64_t hash_on(uint64_t h, char c) {
    return (h ^ (uint8_t)c) * 0x100000001b3u;
}

static size_t bit_of(const vit_encoder *e, uint64_t h) {
    return (size_t)(h ^ h >> 29) & (e->prefix_bits - 1);
}

/* An unknown character has the lowest score of all pieces, less ten. */
static void note_unknown_score(vit_tokenizer *t) {
    vit_encoder *e = t->encoder;
    double lowest = DBL_MAX;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->tokens[i].text || (e->types && e->types[i] != VIT_PIECE_NORMAL)) continue;
        if (e->scores && i >= e->score_count) continue; /* an added token */
        const double score = e->rounded ? (double)e->rounded[i] : e->scores[i];
        if (score < lowest) lowest = score;
    }
    e->unknown_score = e->rounded ? (double)((float)lowest - 10.0f) : lowest - 10;
}

vit_status vit_unigram_prepare(vit_tokenizer *t, const char *name, vit_error *error) {
    vit_encoder *e = t->encoder;
    size_t bytes = 0;
    note_unknown_score(t);
    vit_free(e->prefixes);
    for (size_t i = 0; i < t->count; i++) bytes += t->tokens[i].text ? t->tokens[i].length : 0;
    e->prefix_bits = 1024;
    while (e->prefix_bits < 8 * bytes) e->prefix_bits *= 2;
    e->prefixes = vit_alloc(e->prefix_bits / 64, sizeof *e->prefixes);
    if (!e->prefixes) return vit_fail_memory(error, name, e->prefix_bits / 8);
    for (size_t i = 0; i < t->count; i++) {
        uint64_t h = HASH_START;
        for (size_t k = 0; t->tokens[i].text && k < t->tokens[i].length; k++) {
            h = hash_on(h, t->tokens[i].text[k]);
            e->prefixes[bit_of(e, h) / 64] |= (uint64_t)1 << (bit_of(e, h) % 64);
        }
    }
    return VIT_OK;
}

/* ---- the best pieces ---- */

/* The best way to where a text ends: its sum, its last piece. */
typedef struct node {
    double score;
    size_t start; /* SIZE_MAX: there is no way yet */
    uint32_t id;
} node;

/* SentencePiece adds in float, the library tokenizers in double. */
static double sum_of(const vit_encoder *e, double a, double b) {
    return e->rounded ? (double)((float)a + (float)b) : a + b;
}

static void offer(node *n, double score, size_t start, uint32_t id) {
    if (n->start == SIZE_MAX || score > n->score) *n = (node){score, start, id};
}

/* Offers all pieces that begin at `at`, a character of `bytes` bytes; false: none has its length.
 */
static bool offer_pieces(node *nodes, const vit_tokenizer *t, const char *text, size_t length,
                         size_t at, size_t bytes) {
    const vit_encoder *e = t->encoder;
    uint64_t h = HASH_START;
    bool single = false;
    for (size_t end = at; end < length;) {
        h = hash_on(h, text[end++]);
        if (!(e->prefixes[bit_of(e, h) / 64] >> (bit_of(e, h) % 64) & 1)) break;
        if (end < length && ((uint8_t)text[end] & 0xc0) == 0x80) continue;
        const uint32_t id = vit_tokens_find(t, text + at, end - at);
        if (id == VIT_NO_ID || !vit_is_piece(e, id)) continue;
        const double score = e->rounded ? (double)e->rounded[id] : e->scores[id];
        offer(&nodes[end], sum_of(e, score, nodes[at].score), at, id);
        if (end - at == bytes) single = true;
    }
    return single;
}

/* Writes the ids of a piece: its own, or those of its bytes. */
static vit_status put_piece(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                            size_t length, uint32_t id, vit_error *error) {
    const vit_encoder *e = t->encoder;
    vit_status status = VIT_OK;
    bool bytes = e->byte_fallback && id == e->unknown;
    for (size_t i = 0; i < length && bytes; i++) bytes = e->byte_ids[(uint8_t)text[i]] != VIT_NO_ID;
    if (!bytes) return vit_ids_put(out, id, error);
    for (size_t i = 0; i < length && status == VIT_OK; i++)
        status = vit_ids_put(out, e->byte_ids[(uint8_t)text[i]], error);
    return status;
}

/* The pieces from the last to the first are turned round; unknown ones in a row become one. */
static vit_status put_pieces(vit_ids_list *out, node *nodes, const vit_tokenizer *t,
                             const char *text, size_t length, vit_error *error) {
    const uint32_t unknown = t->encoder->unknown;
    size_t end = length, next = SIZE_MAX;
    vit_status status = VIT_OK;
    while (end > 0) { /* nodes[start].start becomes the end of the piece that begins there */
        const size_t start = nodes[end].start;
        const uint32_t id = nodes[end].id;
        nodes[end].start = next;
        nodes[end].id = id;
        next = end;
        end = start;
    }
    for (size_t start = 0; start < length && status == VIT_OK;) {
        size_t stop = start == 0 ? next : nodes[start].start;
        const uint32_t id = nodes[stop].id;
        while (id == unknown && stop < length && nodes[nodes[stop].start].id == unknown)
            stop = nodes[stop].start;
        status = put_piece(out, t, text + start, stop - start, id, error);
        start = stop;
    }
    return status;
}

vit_status vit_encode_unigram(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                              size_t length, vit_error *error) {
    const vit_encoder *e = t->encoder;
    node *nodes = vit_alloc_unset(length + 1, sizeof *nodes);
    vit_status status = VIT_OK;
    if (!nodes) return vit_fail_memory(error, "a text", (length + 1) * sizeof *nodes);
    for (size_t i = 0; i <= length; i++) nodes[i] = (node){0, SIZE_MAX, VIT_NO_ID};
    for (size_t at = 0; at < length && status == VIT_OK;) {
        uint32_t c;
        const size_t bytes = vit_utf8_get(&c, text + at);
        if (!offer_pieces(nodes, t, text, length, at, bytes)) {
            if (e->unknown == VIT_NO_ID)
                status = vit_fail(error, VIT_ERROR_FORMAT,
                                  "\"%.*s\" has no token, and the tokenizer none for the unknown",
                                  (int)bytes, text + at);
            offer(&nodes[at + bytes], sum_of(e, e->unknown_score, nodes[at].score), at, e->unknown);
        }
        at += bytes;
    }
    if (status == VIT_OK) status = put_pieces(out, nodes, t, text, length, error);
    vit_free(nodes);
    return status;
}
