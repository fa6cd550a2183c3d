#include "vit/text/tokenizer/tokenizer_files.h"
#include "vit/text/tokenizer/tokens.h"
#include <string.h>

vit_status vit_tokens_put_json(vit_tokenizer *t, const json_t *id, const char *text,
                               const char *name, vit_error *error) {
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: the id of \"%.60s\" must be a whole number of at least 0", name, text);
    return vit_tokens_put(t, (size_t)json_integer_value(id), text, strlen(text), name, error);
}

void vit_tokens_mark(vit_tokenizer *t, const char *text) {
    const uint32_t id = text ? vit_tokens_look(t, text) : VIT_NO_ID;
    if (id != VIT_NO_ID) t->tokens[id].special = t->tokens[id].literal = true;
}

/* ---- vocab.txt ---- */

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
        status = vit_tokens_put(out, id, text, length, name, error);
        if (status == VIT_OK) status = vit_tokens_index(out, id, NULL, error);
        text = line ? line + 1 : end;
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) vit_tokens_mark(out, special[i]);
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
            if (status == VIT_OK) status = vit_tokens_put_json(out, id, text, name, error);
            if (status == VIT_OK) out->tokens[json_integer_value(id)].literal = true;
        }
    }
    json_decref(root);
    return status;
}

const char *vit_token_content(const json_t *value) {
    return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
}

/* The token that fills up texts, unless tokenizer.json said which. */
static void note_pad(vit_tokenizer *t, const json_t *value) {
    const char *text = vit_token_content(value);
    if (text && t->pad == VIT_NO_ID) t->pad = vit_tokens_look(t, text);
}

vit_status vit_tokenizer_read_special(vit_tokenizer *out, const vit_bytes *bytes, const char *name,
                                      vit_error *error) {
    const char *key;
    json_t *root = NULL, *value;
    vit_status status = vit_json_parse(&root, (const char *)bytes->data, bytes->size, name, error);
    if (status == VIT_OK) {
        note_pad(out, json_object_get(root, "pad_token"));
        json_object_foreach(root, key, value) {
            vit_tokens_mark(out, vit_token_content(value));
            for (size_t i = 0; i < json_array_size(value); i++)
                vit_tokens_mark(out, vit_token_content(json_array_get(value, i)));
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
    note_pad(out, json_object_get(root, "pad_token"));
    const double most = json_number_value(json_object_get(root, "model_max_length"));
    if (most >= 1 && most <= 1e9) out->most = (size_t)most;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        vit_tokens_mark(out, vit_token_content(json_object_get(root, keys[i])));
    json_object_foreach(json_object_get(root, "added_tokens_decoder"), key, value) {
        if (json_is_true(json_object_get(value, "special")))
            vit_tokens_mark(out, vit_token_content(value));
    }
    /* transformers cleans up texts of WordPiece only. */
    if (out->kind == VIT_PIECES_WORDPIECE &&
        json_is_true(json_object_get(root, "clean_up_tokenization_spaces")))
        out->cleans = true;
    json_decref(root);
    return VIT_OK;
}
