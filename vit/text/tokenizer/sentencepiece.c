/* SentencePiece models, which are protocol buffers:
 *
 *     ModelProto {1: pieces, 2: trainer_spec, 3: normalizer_spec}
 */
#include "vit/base/size.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokenizer_files.h"
#include "vit/text/tokenizer/tokens.h"
#include <float.h>
#include <string.h>

/* The rest of a message, or the bytes of a field. */
typedef struct message {
    const uint8_t *at, *end;
} message;

static bool read_varint(uint64_t *value, message *m) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
        const uint8_t byte = *m->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

/* Reads the next field of a message: *number is the field's, then its content is *bytes or *value.
 */
static bool read_field(uint64_t *number, uint64_t *value, message *bytes, message *m) {
    uint64_t key, length = 0;
    if (!read_varint(&key, m)) return false;
    *number = key >> 3;
    *value = 0;
    *bytes = (message){m->at, m->at};
    switch (key & 7) {
    case 0:
        return read_varint(value, m);
    case 1:
        length = 8;
        break;
    case 2:
        if (!read_varint(&length, m)) return false;
        break;
    case 5:
        length = 4;
        break;
    default:
        return false;
    }
    if (length > (uint64_t)(m->end - m->at)) return false;
    *bytes = (message){m->at, m->at + length};
    m->at += length;
    return true;
}

/* A message SentencePiece {1: text, 2: score, 3: type}. */
typedef struct piece {
    message text;
    float score;
    uint64_t type;
} piece;

static bool read_float(float *value, message bytes) {
    uint32_t bits = 0;
    if (bytes.end - bytes.at != 4) return false;
    for (unsigned i = 0; i < 4; i++) bits |= (uint32_t)bytes.at[i] << (8 * i);
    memcpy(value, &bits, 4);
    return *value >= -FLT_MAX && *value <= FLT_MAX;
}

static bool read_piece(piece *p, message m) {
    uint64_t number, value;
    message bytes;
    *p = (piece){{m.at, m.at}, 0, VIT_PIECE_NORMAL};
    while (m.at < m.end) {
        if (!read_field(&number, &value, &bytes, &m)) return false;
        if (number == 1) p->text = bytes;
        if (number == 2 && !read_float(&p->score, bytes)) return false;
        if (number == 3) p->type = value;
    }
    return !memchr(p->text.at, 0, (size_t)(p->text.end - p->text.at));
}

/* What is read of a model. */
typedef struct model {
    vit_tokenizer *t;
    const char *name;
    bool fairseq;
    size_t count, capacity;         /* pieces; room for scores and types */
    uint64_t type;                  /* of the model: 1 unigram, 2 BPE, 3 words, 4 characters */
    uint64_t suffix, fallback;      /* spaces behind a word; bytes for what is unknown */
    uint64_t dummy, extra, escapes; /* of the normaliser */
    message map;
    vit_error *error;
} model;

size_t vit_user_piece(uint32_t *id, const vit_tokenizer *t, const char *text, size_t length) {
    const vit_encoder *e = t->encoder;
    for (size_t n = vit_min(length, e->user_longest); n > 0; n--) {
        *id = vit_tokens_find(t, text, n);
        if (*id != VIT_NO_ID && e->types[*id] == VIT_PIECE_USER) return n;
    }
    return 0;
}

enum { LONGEST_USER = 64 }; /* each length is looked up at each character of a text */

/* Keeps the score and the type of a token that texts are encoded with. */
static vit_status put_score(model *m, size_t id, const piece *p) {
    vit_encoder *e = m->t->encoder;
    if (m->capacity <= id) {
        const size_t more = m->t->count;
        float *scores = vit_realloc(e->rounded, m->capacity, more, sizeof *scores);
        if (scores) e->rounded = scores;
        uint8_t *types = vit_realloc(e->types, m->capacity, more, sizeof *types);
        if (types) e->types = types;
        if (!scores || !types) return vit_fail_memory(m->error, m->name, more * 5);
        m->capacity = more;
    }
    e->rounded[id] = p->score;
    e->types[id] = (uint8_t)p->type;
    if (p->type == VIT_PIECE_UNKNOWN) e->unknown = (uint32_t)id;
    const size_t length = (size_t)(p->text.end - p->text.at);
    const bool user = p->type == VIT_PIECE_USER;
    if (user) e->user_longest = vit_max(e->user_longest, length);
    if ((user && length > LONGEST_USER) || p->type == VIT_PIECE_UNUSED || p->type > VIT_PIECE_BYTE)
        return vit_fail(m->error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"%.*s\" is a piece of the type %s, which is not supported for "
                        "encoding: use the tokenizer.json of the model",
                        m->name, (int)vit_min(length, 60), (const char *)p->text.at,
                        user ? "USER_DEFINED with more than 64 bytes" : "UNUSED");
    return VIT_OK;
}

/* The file begins with <unk>, <s>, </s>; fairseq's ids 0 to 3 are <s>, <pad>, </s>, <unk>. */
static size_t next_id(model *m) {
    static const size_t first[] = {3, 0, 2};
    const size_t index = m->count++;
    return !m->fairseq ? index : index < 3 ? first[index] : index + 1;
}

static vit_status put_piece(model *m, size_t id, const piece *p) {
    const size_t length = (size_t)(p->text.end - p->text.at);
    vit_status status =
        vit_tokens_put(m->t, id, (const char *)p->text.at, length, m->name, m->error);
    if (status != VIT_OK) return status;
    m->t->tokens[id].special = p->type == VIT_PIECE_UNKNOWN || p->type == VIT_PIECE_CONTROL;
    status = vit_tokens_index(m->t, id, NULL, m->error);
    return status == VIT_OK && m->t->encoder ? put_score(m, id, p) : status;
}

/* trainer_spec {3: model_type, 24: treat_whitespace_as_suffix, 35: byte_fallback},
 * normalizer_spec {2: precompiled_charsmap, 3: add_dummy_prefix, 4: remove_extra_whitespaces,
 * 5: escape_whitespaces} */
static bool read_spec(model *m, message spec, bool trainer) {
    uint64_t number, value;
    message bytes;
    while (spec.at < spec.end) {
        if (!read_field(&number, &value, &bytes, &spec)) return false;
        if (trainer && number == 3) m->type = value;
        if (trainer && number == 24) m->suffix = value;
        if (trainer && number == 35) m->fallback = value;
        if (!trainer && number == 2) m->map = bytes;
        if (!trainer && number == 3) m->dummy = value;
        if (!trainer && number == 4) m->extra = !value;
        if (!trainer && number == 5) m->escapes = value;
    }
    return true;
}

static vit_status read_model(model *m, const uint8_t *bytes, size_t size) {
    message file = {bytes, bytes + size}, field;
    uint64_t number, value;
    piece p;
    vit_status status = VIT_OK;
    while (file.at < file.end && status == VIT_OK) {
        const size_t offset = (size_t)(file.at - bytes);
        if (!read_field(&number, &value, &field, &file) ||
            (number == 1 && !read_piece(&p, field)) ||
            ((number == 2 || number == 3) && !read_spec(m, field, number == 2)))
            status = vit_fail(m->error, VIT_ERROR_FORMAT,
                              "%s: is no SentencePiece model: byte %zu begins no field", m->name,
                              offset);
        else if (number == 1)
            status = put_piece(m, next_id(m), &p);
    }
    if (status == VIT_OK && m->count == 0)
        status = vit_fail(m->error, VIT_ERROR_FORMAT, "%s: holds no pieces", m->name);
    return status;
}

/* <pad> and <mask>, which fairseq adds. */
static vit_status put_fairseq(model *m) {
    static const uint8_t pad[] = "<pad>", mask[] = "<mask>";
    const piece pieces[] = {{{pad, pad + sizeof pad - 1}, 0, VIT_PIECE_CONTROL},
                            {{mask, mask + sizeof mask - 1}, 0, VIT_PIECE_CONTROL}};
    const vit_status status = put_piece(m, 1, &pieces[0]);
    return status == VIT_OK ? put_piece(m, m->count + 1, &pieces[1]) : status;
}

/* The rules of the library sentencepiece: its normaliser, and what the file says of the model. */
static vit_status put_rules(model *m) {
    vit_encoder *e = m->t->encoder;
    vit_rule *rule = vit_rules_add(&e->normalisers, VIT_RULE_SENTENCEPIECE, m->error);
    if (!rule) return VIT_ERROR_MEMORY;
    if (m->type > 2 || m->suffix || !m->escapes)
        return vit_fail(m->error, VIT_ERROR_UNSUPPORTED,
                        "%s: its %s is not supported for encoding: model_type must be 1 "
                        "(unigram) or 2 (BPE), treat_whitespace_as_suffix false, "
                        "escape_whitespaces true",
                        m->name,
                        m->type > 2 ? "model_type"
                        : m->suffix ? "treat_whitespace_as_suffix"
                                    : "escape_whitespaces");
    rule->dummy = m->dummy != 0;
    rule->extra = m->extra != 0;
    e->kind = m->type == 2 ? VIT_ENCODER_SENTENCE_BPE : VIT_ENCODER_UNIGRAM;
    if (m->type != 2 && e->user_longest > 0)
        return vit_fail(m->error, VIT_ERROR_UNSUPPORTED,
                        "%s: has pieces of the type USER_DEFINED, which are not supported for "
                        "encoding with a unigram model: use the tokenizer.json of the model",
                        m->name);
    e->byte_fallback = m->fallback != 0;
    vit_bytes_prepare(m->t);
    for (size_t i = 0; i < 256 && e->byte_fallback; i++)
        if (e->byte_ids[i] == VIT_NO_ID)
            return vit_fail(m->error, VIT_ERROR_FORMAT,
                            "%s: has byte_fallback, but no piece for the byte %zu", m->name, i);
    if (e->unknown == VIT_NO_ID)
        return vit_fail(m->error, VIT_ERROR_FORMAT, "%s: has no unknown piece", m->name);
    return vit_charsmap_new(&rule->map, m->map.at, (size_t)(m->map.end - m->map.at), m->name,
                            m->error);
}

vit_status vit_tokenizer_read_spm(vit_tokenizer *t, const uint8_t *bytes, size_t size, bool fairseq,
                                  const char *name, vit_error *error) {
    model m = {.t = t,
               .name = name,
               .fairseq = fairseq,
               .type = 1,
               .dummy = 1,
               .escapes = 1,
               .map = {bytes, bytes},
               .error = error};
    t->kind = VIT_PIECES_METASPACE;
    vit_status status = read_model(&m, bytes, size);
    if (status == VIT_OK && fairseq) status = put_fairseq(&m);
    if (status == VIT_OK && t->encoder) status = put_rules(&m);
    if (status == VIT_OK && t->encoder && t->encoder->kind == VIT_ENCODER_UNIGRAM)
        status = vit_unigram_prepare(t, name, error);
    return status;
}

vit_status vit_tokenizer_read_sentencepiece(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                            bool fairseq, const char *name, vit_error *error) {
    *out = (vit_tokenizer){.pad = VIT_NO_ID};
    const vit_status status = vit_tokenizer_read_spm(out, bytes, size, fairseq, name, error);
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}
