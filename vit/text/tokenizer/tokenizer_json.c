/* tokenizer.json, vocab.json and merges.txt. The vocabulary and the merges are too large for a
 * tree: they are cut out and scanned. */
#include "vit/base/size.h"
#include "vit/formats/json_scan.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokenizer_files.h"
#include "vit/text/tokenizer/tokens.h"
#include <string.h>

/* ---- vocabularies in JSON, which are too large for a tree ---- */

/* A part of a JSON text. */
typedef struct span {
    const uint8_t *at, *end;
} span;

/* Begins to read a span; its strings are kept with the tokenizer. */
static vit_status begin(vit_scan *scan, vit_tokenizer *t, span s, const char *what,
                        const char *name, vit_error *error) {
    const size_t size = (size_t)(s.end - s.at);
    *scan = (vit_scan){what, s.at, s.at, s.end, vit_tokens_room(t, size + 1), error};
    return scan->strings ? VIT_OK : vit_fail_memory(error, name, size);
}

/* The string that was read last, from *text to here, becomes the token `id`. */
static vit_status keep(vit_tokenizer *t, const vit_scan *scan, const char *text, char *start,
                       size_t id, bool once, const char *name, vit_error *error) {
    bool again = false;
    const size_t length = (size_t)(scan->strings - start) - 1;
    vit_status status = vit_tokens_keep(t, id, start, length, name, error);
    if (status == VIT_OK) status = vit_tokens_index(t, id, &again, error);
    if (status == VIT_OK && again && once)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%.60s\" is twice in the vocabulary", name,
                        text);
    return status;
}

/* {"text": id, ...} */
static vit_status scan_object(vit_tokenizer *t, span s, const char *name, vit_error *error) {
    vit_scan scan;
    vit_status status = begin(&scan, t, s, "vocabulary", name, error);
    if (status == VIT_OK) status = vit_scan_expect(&scan, '{', "'{', {\"text\": id}");
    if (status == VIT_OK && vit_scan_take(&scan, '}')) return VIT_OK;
    while (status == VIT_OK) {
        char *start = scan.strings;
        const char *text;
        size_t id = 0;
        status = vit_scan_string(&scan, &text, "a token in double quotes");
        if (status == VIT_OK) status = vit_scan_expect(&scan, ':', "':' after a token");
        if (status == VIT_OK)
            status = vit_scan_size(&scan, &id, "an id, a whole number of at least 0");
        if (status != VIT_OK) break;
        status = keep(t, &scan, text, start, id, true, name, error);
        if (status != VIT_OK) return status;
        if (vit_scan_take(&scan, ',')) continue;
        status = vit_scan_expect(&scan, '}', "',' or '}'");
        break;
    }
    return status == VIT_OK ? VIT_OK : vit_fail_prefix(error, status, name);
}

/* The score of a token, for a tokenizer that is to encode. */
static vit_status put_score(vit_tokenizer *t, size_t id, double score, size_t *capacity,
                            vit_error *error) {
    if (!VIT_MAKE_ROOM(t->encoder->scores, id, *capacity, "scores", error)) return VIT_ERROR_MEMORY;
    t->encoder->scores[id] = score;
    t->encoder->score_count = id + 1;
    return VIT_OK;
}

/* [[text, score], ...]; scores are kept where a text is to be encoded. */
static vit_status scan_unigram(vit_tokenizer *t, span s, const char *name, vit_error *error) {
    vit_scan scan;
    size_t capacity = 0;
    vit_status status = begin(&scan, t, s, "vocabulary", name, error);
    if (status == VIT_OK) status = vit_scan_expect(&scan, '[', "'[', [[text, score]]");
    if (status == VIT_OK && vit_scan_take(&scan, ']')) return VIT_OK;
    for (size_t id = 0; status == VIT_OK; id++) {
        char *start = scan.strings;
        const char *text;
        double score = 0;
        status = vit_scan_expect(&scan, '[', "'[', [text, score]");
        if (status == VIT_OK) status = vit_scan_string(&scan, &text, "a token in double quotes");
        if (status == VIT_OK) status = vit_scan_expect(&scan, ',', "',' after a token");
        if (status == VIT_OK) status = vit_scan_double(&scan, &score, "a score");
        if (status == VIT_OK) status = vit_scan_expect(&scan, ']', "']' after a score");
        if (status != VIT_OK) break;
        status = keep(t, &scan, text, start, id, false, name, error);
        if (status == VIT_OK && t->encoder) status = put_score(t, id, score, &capacity, error);
        if (status != VIT_OK) return status;
        if (vit_scan_take(&scan, ',')) continue;
        status = vit_scan_expect(&scan, ']', "',' or ']'");
        break;
    }
    return status == VIT_OK ? VIT_OK : vit_fail_prefix(error, status, name);
}

/* ---- merges ---- */

/* "a b": parts that a single space separates. */
static vit_status put_line(vit_tokenizer *t, const char *line, size_t length, uint32_t rank,
                           const char *name, vit_error *error) {
    const char *space = memchr(line, ' ', length);
    const size_t left = space ? (size_t)(space - line) : 0;
    if (!space || left == 0 || left + 1 == length || memchr(space + 1, ' ', length - left - 1))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: merge %u, \"%.*s\", is not two tokens with a space between", name,
                        rank + 1, (int)vit_min(length, 60), line);
    return vit_merges_put(t, line, left, space + 1, length - left - 1, rank, name, error);
}

/* ["a", "b"], or "a b" in older files. */
static vit_status scan_merge(vit_tokenizer *t, vit_scan *scan, uint32_t rank, const char *name,
                             vit_error *error) {
    const char *a, *b;
    const bool is_pair = vit_scan_take(scan, '[');
    vit_status status = vit_scan_string(scan, &a, "a merge");
    if (status == VIT_OK && is_pair) status = vit_scan_expect(scan, ',', "',' in a merge");
    if (status == VIT_OK && is_pair) status = vit_scan_string(scan, &b, "a token");
    if (status == VIT_OK && is_pair) status = vit_scan_expect(scan, ']', "']' after a merge");
    if (status != VIT_OK) return vit_fail_prefix(error, status, name);
    return is_pair ? vit_merges_put(t, a, strlen(a), b, strlen(b), rank, name, error)
                   : put_line(t, a, strlen(a), rank, name, error);
}

static vit_status scan_merges(vit_tokenizer *t, span s, const char *name, vit_error *error) {
    size_t quotes = 0;
    for (const uint8_t *at = s.at; at < s.end; at++) quotes += *at == '"';
    char *strings = vit_alloc_unset((size_t)(s.end - s.at) + 1, 1);
    if (!strings) return vit_fail_memory(error, name, (size_t)(s.end - s.at));
    vit_scan scan = {"merges", s.at, s.at, s.end, strings, error};
    vit_status status = vit_scan_expect(&scan, '[', "'[', a list");
    if (status != VIT_OK) vit_fail_prefix(error, status, name);
    if (status == VIT_OK) status = vit_merges_room(t->encoder, quotes / 2, error);
    bool more = status == VIT_OK && !vit_scan_take(&scan, ']');
    for (uint32_t rank = 0; more && status == VIT_OK; rank++) {
        scan.strings = strings;
        status = scan_merge(t, &scan, rank, name, error);
        more = vit_scan_take(&scan, ',');
        if (status != VIT_OK || more) continue;
        status = vit_scan_expect(&scan, ']', "',' or ']'");
        if (status != VIT_OK) vit_fail_prefix(error, status, name);
    }
    vit_free(strings);
    return status;
}

vit_status vit_tokenizer_read_merges(vit_tokenizer *t, const vit_bytes *bytes, const char *name,
                                     vit_error *error) {
    const char *at = (const char *)bytes->data, *end = at + bytes->size;
    size_t lines = 1;
    for (size_t i = 0; i < bytes->size; i++) lines += bytes->data[i] == '\n';
    vit_status status = vit_merges_room(t->encoder, lines, error);
    for (uint32_t rank = 0; at < end && status == VIT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        const char *line = at;
        at = stop ? stop + 1 : end;
        if (length > 0 && line[length - 1] == '\r') length--;
        if (length == 0 || (length >= 8 && memcmp(line, "#version", 8) == 0)) continue;
        status = put_line(t, line, length, rank++, name, error);
    }
    return status;
}

/* ---- tokenizer.json ---- */

/* A file that is being cut up: what jansson reads, and what is scanned. */
typedef struct carver {
    vit_scan scan;
    const uint8_t *copied; /* up to here the text is in `rest` */
    vit_string rest;
    span vocabulary, merges;
} carver;

static vit_status carve_object(carver *c, bool model);

static vit_status carve_member(carver *c, bool model) {
    const char *key;
    vit_status status = vit_scan_string(&c->scan, &key, "a name");
    if (status == VIT_OK) status = vit_scan_expect(&c->scan, ':', "':' after a name");
    if (status != VIT_OK || vit_scan_end(&c->scan)) return status;
    const uint8_t *start = c->scan.at;
    if (!model && strcmp(key, "model") == 0 && *start == '{') return carve_object(c, true);
    status = vit_scan_skip(&c->scan);
    const bool is_merges = model && strcmp(key, "merges") == 0;
    if (status != VIT_OK || !(is_merges || (model && strcmp(key, "vocab") == 0))) return status;
    *(is_merges ? &c->merges : &c->vocabulary) = (span){start, c->scan.at};
    vit_string_add_bytes(&c->rest, (const char *)c->copied, (size_t)(start - c->copied));
    vit_string_add_bytes(&c->rest, "null", 4);
    c->copied = c->scan.at;
    return VIT_OK;
}

static vit_status carve_object(carver *c, bool model) {
    vit_status status = vit_scan_expect(&c->scan, '{', "'{'");
    if (status == VIT_OK && vit_scan_take(&c->scan, '}')) return VIT_OK;
    do
        if (status == VIT_OK) status = carve_member(c, model);
    while (status == VIT_OK && vit_scan_take(&c->scan, ','));
    return status == VIT_OK ? vit_scan_expect(&c->scan, '}', "'}'") : status;
}

/* *root = the file without the vocabulary and the merges. What the scan does not understand goes to
 * jansson as a whole, for its message. */
static vit_status carve(carver *c, json_t **root, const uint8_t *bytes, size_t size,
                        const char *name, vit_error *error) {
    vit_error ignored;
    char *strings = vit_alloc_unset(size + 1, 1);
    if (!strings) return vit_fail_memory(error, name, size);
    const size_t mark = vit_utf8_mark(bytes, size);
    *c = (carver){.scan = {"file", bytes, bytes + mark, bytes + size, strings, &ignored},
                  .copied = bytes};
    const vit_status scanned = carve_object(c, false);
    vit_free(strings);
    if (scanned != VIT_OK) return vit_json_parse(root, (const char *)bytes, size, name, error);
    vit_string_add_bytes(&c->rest, (const char *)c->copied, (size_t)(bytes + size - c->copied));
    if (c->rest.failed) return vit_fail_memory(error, name, size);
    return vit_json_parse(root, c->rest.text, c->rest.length, name, error);
}

static vit_status put_added(vit_tokenizer *t, const json_t *list, const char *name,
                            vit_error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *added = json_array_get(list, i), *id = json_object_get(added, "id");
        const char *text = json_string_value(json_object_get(added, "content"));
        if (!text)
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: added token %zu has no content", name, i);
        vit_status status = vit_tokens_put_json(t, id, text, name, error);
        if (status != VIT_OK) return status;
        vit_token *token = &t->tokens[json_integer_value(id)];
        token->special = json_is_true(json_object_get(added, "special"));
        token->literal = true;
    }
    return VIT_OK;
}

/* *kind = that of the decoder, or for a sequence of decoders that of the first that is known. */
static bool kind_of(vit_pieces *kind, const json_t *decoder) {
    static const struct {
        const char *type;
        vit_pieces kind;
    } types[] = {{"ByteLevel", VIT_PIECES_BYTES},
                 {"Metaspace", VIT_PIECES_METASPACE},
                 {"Replace", VIT_PIECES_METASPACE}, /* replaces U+2581 by a space */
                 {"WordPiece", VIT_PIECES_WORDPIECE}};
    const char *type = json_string_value(json_object_get(decoder, "type"));
    const json_t *parts = json_object_get(decoder, "decoders");
    if (!decoder || json_is_null(decoder)) {
        *kind = VIT_PIECES_SEPARATE;
        return true;
    }
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0) {
            *kind = types[i].kind;
            return true;
        }
    for (size_t i = 0; i < json_array_size(parts); i++)
        if (!json_object_get(json_array_get(parts, i), "decoders") &&
            kind_of(kind, json_array_get(parts, i)))
            return true;
    return false;
}

/* The vocabulary, and how ids become text. */
static vit_status read_tokens(vit_tokenizer *t, const carver *c, const json_t *root,
                              const char *name, vit_error *error) {
    const json_t *decoder = json_object_get(root, "decoder");
    const char *type = json_string_value(json_object_get(decoder, "type"));
    vit_status status = VIT_OK;
    if (!kind_of(&t->kind, decoder))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: its decoder is of the type \"%.60s\": known are ByteLevel, Metaspace, "
                        "WordPiece",
                        name, type ? type : "");
    if (c->vocabulary.at && *c->vocabulary.at == '{')
        status = scan_object(t, c->vocabulary, name, error);
    else if (c->vocabulary.at && *c->vocabulary.at == '[')
        status = scan_unigram(t, c->vocabulary, name, error);
    else
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no vocabulary at model.vocab", name);
    if (status == VIT_OK) status = put_added(t, json_object_get(root, "added_tokens"), name, error);
    t->cleans_pieces = json_is_true(json_object_get(decoder, "cleanup"));
    return status;
}

vit_status vit_tokenizer_read_whole(vit_tokenizer *t, const vit_bytes *bytes, const char *name,
                                    vit_error *error) {
    json_t *root = NULL;
    carver c;
    vit_status status = carve(&c, &root, bytes->data, bytes->size, name, error);
    if (status == VIT_OK) status = read_tokens(t, &c, root, name, error);
    if (status == VIT_OK && t->encoder) {
        const bool is_unigram = *c.vocabulary.at == '[';
        status = vit_encoder_read_json(t, root, name, error);
        if (status == VIT_OK && (t->encoder->kind == VIT_ENCODER_UNIGRAM) != is_unigram)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: its vocabulary has another form than its model's type", name);
        if (status == VIT_OK && c.merges.at && t->encoder->kind == VIT_ENCODER_BPE)
            status = scan_merges(t, c.merges, name, error);
        if (status == VIT_OK) vit_bytes_prepare(t);
        if (status == VIT_OK && is_unigram) status = vit_unigram_prepare(t, name, error);
    }
    vit_string_free(&c.rest);
    json_decref(root);
    return status;
}

vit_status vit_tokenizer_read_json(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error) {
    const vit_bytes all = {(uint8_t *)(uintptr_t)bytes, size};
    *out = (vit_tokenizer){.pad = VIT_NO_ID};
    const vit_status status = vit_tokenizer_read_whole(out, &all, name, error);
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}

vit_status vit_tokenizer_read_vocab_json(vit_tokenizer *out, const vit_bytes *bytes,
                                         const char *name, vit_error *error) {
    static const char *const special[] = {"<s>",    "<pad>",         "</s>",           "<unk>",
                                          "<mask>", "<|endoftext|>", "<|startoftext|>"};
    const size_t mark = vit_utf8_mark(bytes->data, bytes->size);
    const span all = {bytes->data + mark, bytes->data + bytes->size};
    out->kind = VIT_PIECES_BYTES;
    const vit_status status = scan_object(out, all, name, error);
    for (size_t i = 0; i < VIT_COUNT(special) && !out->encoder; i++)
        vit_tokens_mark(out, special[i]); /* else its class says which */
    return status;
}
