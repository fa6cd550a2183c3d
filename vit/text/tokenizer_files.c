#include "vit/text/tokenizer_files.h"
#include "vit/formats/json.h"
#include "vit/text/vocabulary.h"
#include <string.h>

/* ---- tokens ---- */

/* Sets the text of an id; the table grows if it must. */
static vit_status put(vit_tokenizer *t, size_t id, const char *text, size_t length,
                      const char *name, vit_error *error) {
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
    char *copy = vit_alloc(length + 1, 1);
    if (!copy) return vit_fail_memory(error, name, length + 1);
    memcpy(copy, text, length);
    vit_free(t->tokens[id].text);
    t->tokens[id] = (vit_token){.text = copy};
    return VIT_OK;
}

static vit_status put_json(vit_tokenizer *t, const json_t *id, const char *text, const char *name,
                           vit_error *error) {
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: the id of \"%.60s\" must be a whole number of at least 0", name, text);
    return put(t, (size_t)json_integer_value(id), text, strlen(text), name, error);
}

/* {"text": id, ...} */
static vit_status put_object(vit_tokenizer *t, json_t *object, const char *name, vit_error *error) {
    const char *text;
    json_t *id;
    vit_status status = VIT_OK;
    json_object_foreach(object, text, id) {
        if (status == VIT_OK) status = put_json(t, id, text, name, error);
    }
    return status;
}

static void mark_special(vit_tokenizer *t, const char *text) {
    for (size_t i = 0; text && i < t->count; i++)
        if (t->tokens[i].text && strcmp(t->tokens[i].text, text) == 0)
            t->tokens[i].special = t->tokens[i].literal = true;
}

/* ---- tokenizer.json ---- */

/* [[text, score], ...] */
static vit_status put_unigram(vit_tokenizer *t, const json_t *list, const char *name,
                              vit_error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(json_array_get(list, i), 0));
        if (!text)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: entry %zu of the vocabulary is not [text, score]", name, i);
        vit_status status = put(t, i, text, strlen(text), name, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

static vit_status put_added(vit_tokenizer *t, const json_t *list, const char *name,
                            vit_error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *added = json_array_get(list, i), *id = json_object_get(added, "id");
        const char *text = json_string_value(json_object_get(added, "content"));
        if (!text)
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: added token %zu has no content", name, i);
        vit_status status = put_json(t, id, text, name, error);
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

static vit_status read_model(vit_tokenizer *t, const json_t *root, const char *name,
                             vit_error *error) {
    const json_t *model = json_object_get(root, "model"),
                 *decoder = json_object_get(root, "decoder");
    json_t *vocabulary = json_object_get(model, "vocab");
    const char *type = json_string_value(json_object_get(decoder, "type"));
    vit_status status = VIT_OK;
    if (!kind_of(&t->kind, decoder))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: its decoder is of the type \"%.60s\": known are ByteLevel, Metaspace, "
                        "WordPiece",
                        name, type ? type : "");
    if (json_is_object(vocabulary))
        status = put_object(t, vocabulary, name, error);
    else if (json_is_array(vocabulary))
        status = put_unigram(t, vocabulary, name, error);
    else
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: has no vocabulary at model.vocab", name);
    if (status == VIT_OK) status = put_added(t, json_object_get(root, "added_tokens"), name, error);
    t->cleans_pieces = json_is_true(json_object_get(decoder, "cleanup"));
    return status;
}

vit_status vit_tokenizer_read_json(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error) {
    json_t *root = NULL;
    *out = (vit_tokenizer){0};
    vit_status status = vit_json_parse(&root, (const char *)bytes, size, name, error);
    if (status == VIT_OK) status = read_model(out, root, name, error);
    json_decref(root);
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}

/* ---- vocab.json, vocab.txt ---- */

vit_status vit_tokenizer_read_vocab_json(vit_tokenizer *out, const vit_bytes *bytes,
                                         const char *name, vit_error *error) {
    static const char *const special[] = {"<s>",   "<pad>",  "</s>",
                                          "<unk>", "<mask>", "<|endoftext|>"};
    json_t *root = NULL;
    out->kind = VIT_PIECES_BYTES;
    vit_status status = vit_json_parse(&root, (const char *)bytes->data, bytes->size, name, error);
    if (status == VIT_OK) status = put_object(out, root, name, error);
    json_decref(root);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) mark_special(out, special[i]);
    return status;
}

vit_status vit_tokenizer_read_vocab_txt(vit_tokenizer *out, const vit_bytes *bytes,
                                        const char *name, vit_error *error) {
    static const char *const special[] = {"[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"};
    const char *text = (const char *)bytes->data, *end = text + bytes->size;
    vit_status status = VIT_OK;
    out->kind = VIT_PIECES_WORDPIECE;
    out->cleans_pieces = true;
    for (size_t id = 0; text < end && status == VIT_OK; id++) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        const char *stop = line ? line : end;
        size_t length = (size_t)(stop - text);
        if (length > 0 && text[length - 1] == '\r') length--;
        if (memchr(text, 0, length))
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu has a zero byte", name, id + 1);
        status = put(out, id, text, length, name, error);
        text = line ? line + 1 : end;
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) mark_special(out, special[i]);
    return status;
}

/* ---- files beside the vocabulary ---- */
vit_status vit_tokenizer_read_added(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                    vit_error *error) {
    const char *text;
    json_t *root = NULL, *id;
    vit_status status = vit_json_parse(&root, (const char *)bytes->data, bytes->size, name, error);
    if (status == VIT_OK) {
        json_object_foreach(root, text, id) {
            if (status == VIT_OK) status = put_json(out, id, text, name, error);
            if (status == VIT_OK) out->tokens[json_integer_value(id)].literal = true;
        }
    }
    json_decref(root);
    return status;
}

/* A special token is given as its text, or as an object with it. */
static const char *content_of(const json_t *value) {
    return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
}

vit_status vit_tokenizer_read_special(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                      vit_error *error) {
    const char *key;
    json_t *root = NULL, *value;
    vit_status status = vit_json_parse(&root, (const char *)bytes->data, bytes->size, name, error);
    if (status == VIT_OK) {
        json_object_foreach(root, key, value) {
            mark_special(out, content_of(value));
            for (size_t i = 0; i < json_array_size(value); i++)
                mark_special(out, content_of(json_array_get(value, i)));
        }
    }
    json_decref(root);
    return status;
}

vit_status vit_tokenizer_read_config(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                     vit_error *error) {
    static const char *const keys[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};
    const char *key;
    json_t *root = NULL, *value;
    /* A model without a limit has a "model_max_length" of 10^30. */
    const vit_status status =
        vit_json_parse_reals(&root, (const char *)bytes->data, bytes->size, name, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        mark_special(out, content_of(json_object_get(root, keys[i])));
    json_object_foreach(json_object_get(root, "added_tokens_decoder"), key, value) {
        if (json_is_true(json_object_get(value, "special"))) mark_special(out, content_of(value));
    }
    /* transformers cleans up texts of WordPiece only. */
    if (out->kind == VIT_PIECES_WORDPIECE &&
        json_is_true(json_object_get(root, "clean_up_tokenization_spaces")))
        out->cleans = true;
    json_decref(root);
    return VIT_OK;
}

/* ---- SentencePiece: a protocol buffer ---- */

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

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

/* A message SentencePiece {1: text, 2: score, 3: type}; false: damaged. */
static bool read_piece(message *text, uint64_t *type, message m) {
    uint64_t number, value;
    message bytes;
    *text = (message){m.at, m.at};
    *type = NORMAL;
    while (m.at < m.end) {
        if (!read_field(&number, &value, &bytes, &m)) return false;
        if (number == 1) *text = bytes;
        if (number == 3) *type = value;
    }
    return memchr(text->at, 0, (size_t)(text->end - text->at)) == NULL;
}

/* Adds piece number `index` of the file. */
static vit_status put_piece(vit_tokenizer *t, message text, uint64_t type, size_t index,
                            bool fairseq, const char *name, vit_error *error) {
    /* The file begins with <unk>, <s>, </s>; fairseq's ids 0 to 3 are <s>, <pad>, </s>, <unk>. */
    static const size_t first[] = {3, 0, 2};
    const size_t id = !fairseq ? index : index < 3 ? first[index] : index + 1;
    vit_status status =
        put(t, id, (const char *)text.at, (size_t)(text.end - text.at), name, error);
    if (status == VIT_OK) t->tokens[id].special = type == UNKNOWN || type == CONTROL;
    return status;
}

vit_status vit_tokenizer_read_sentencepiece(vit_tokenizer *out, const uint8_t *bytes, size_t size,
                                            bool fairseq, const char *name, vit_error *error) {
    message file = {bytes, bytes + size}, field, text;
    uint64_t number, value, type;
    size_t count = 0;
    vit_status status = VIT_OK;
    *out = (vit_tokenizer){.kind = VIT_PIECES_METASPACE};
    while (file.at < file.end && status == VIT_OK) {
        const size_t offset = (size_t)(file.at - bytes);
        if (!read_field(&number, &value, &field, &file) ||
            (number == 1 && !read_piece(&text, &type, field)))
            status =
                vit_fail(error, VIT_ERROR_FORMAT,
                         "%s: is no SentencePiece model: byte %zu begins no field", name, offset);
        else if (number == 1)
            status = put_piece(out, text, type, count++, fairseq, name, error);
    }
    if (status == VIT_OK && count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: holds no pieces", name);
    if (status == VIT_OK && fairseq) {
        status = put(out, 1, "<pad>", 5, name, error);
        if (status == VIT_OK) status = put(out, count + 1, "<mask>", 6, name, error);
        if (status == VIT_OK) out->tokens[1].special = out->tokens[count + 1].special = true;
    }
    if (status != VIT_OK) vit_tokenizer_free(out);
    return status;
}
