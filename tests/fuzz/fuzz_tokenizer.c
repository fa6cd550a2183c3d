/* The files of tokenizers, and vocabularies of our own; the first byte chooses. What was read
 * decodes any ids, and encodes any text; in a file for encoding, the text follows the first 0. */
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokenizer_files.h"
#include "vit/text/unicode/clean.h"
#include "vit/text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const vit_tokenizer *t) {
    uint32_t ids[64];
    for (uint32_t i = 0; i < 64; i++) ids[i] = i;
    char *text = vit_tokenizer_decode(t, ids, 64);
    if (text == NULL) abort();
    vit_free(text);
}

/* JSON, ended by 0. */
static void read_vocabulary(const uint8_t *data, size_t size) {
    vit_vocabulary v;
    vit_error error;
    char *json = vit_alloc(size + 1, 1);
    const uint32_t ids[] = {0, 1, 2, 3, UINT32_MAX};
    memcpy(json, data, size);
    if (vit_vocabulary_read(&v, json, "input", &error) == VIT_OK) {
        char *text = vit_vocabulary_decode(&v, ids, 5);
        if (text == NULL) abort();
        vit_free(text);
        vit_vocabulary_free(&v);
    }
    vit_free(json);
}

/* What lies beside another file adds to what that said. */
static vit_status read_file(vit_tokenizer *t, uint8_t kind, const uint8_t *data, size_t size) {
    static const struct {
        vit_status (*read)(vit_tokenizer *, const vit_bytes *, const char *, vit_error *);
    } files[] = {{vit_tokenizer_read_vocab_json},
                 {vit_tokenizer_read_vocab_txt},
                 {vit_tokenizer_read_added},
                 {vit_tokenizer_read_special},
                 {vit_tokenizer_read_config}};
    vit_error error;
    uint8_t *copy = vit_alloc(size + 1, 1);
    const vit_bytes bytes = {copy, size};
    if (kind == 0) {
        vit_free(copy);
        return vit_tokenizer_read_json(t, data, size, "input", &error);
    }
    if (kind <= 2) {
        vit_free(copy);
        return vit_tokenizer_read_sentencepiece(t, data, size, kind == 1, "input", &error);
    }
    memcpy(copy, data, size);
    *t = (vit_tokenizer){.pad = VIT_NO_ID};
    const vit_status status = files[(kind - 3) % 5].read(t, &bytes, "input", &error);
    vit_free(copy);
    return status;
}

/* tokenizer.json or a SentencePiece model, that encodes the rest of the input. */
static void encode(const uint8_t *data, size_t size, bool sentencepiece) {
    vit_tokenizer t = {.pad = VIT_NO_ID, .encoder = vit_encoder_new()};
    vit_error error;
    vit_encoding e;
    const size_t half = sentencepiece ? size / 2 : strnlen((const char *)data, size);
    const vit_bytes file = {(uint8_t *)(uintptr_t)data, half};
    const vit_status status = sentencepiece
                                  ? vit_tokenizer_read_spm(&t, data, half, false, "input", &error)
                                  : vit_tokenizer_read_whole(&t, &file, "input", &error);
    if (status == VIT_OK) {
        const size_t from = half < size ? half + 1 : size;
        const char *text = (const char *)data + from;
        const size_t valid = vit_utf8_valid(text, size - from);
        if (vit_tokenizer_encode(&e, &t, text, valid, 0, &error) == VIT_OK) vit_free(e.ids);
    }
    vit_tokenizer_free(&t);
}

/* What OpenCLIP does to a text before. */
static void clean(const uint8_t *data, size_t size) {
    const vit_cleaning how = (vit_cleaning)(1 + data[0] % (VIT_CLEANING_COUNT - 1));
    const char *text = (const char *)data + 1;
    vit_string out = {0};
    vit_error error;
    if (vit_text_clean(&out, how, text, vit_utf8_valid(text, size - 1), &error) == VIT_OK &&
        vit_utf8_valid(out.text, out.length) != out.length)
        abort();
    vit_string_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_tokenizer t;
    if (size == 0) return 0;
    const uint8_t kind = data[0] % 12;
    if (kind == 11) {
        if (size > 1) clean(data + 1, size - 1);
        return 0;
    }
    if (kind >= 9) {
        encode(data + 1, size - 1, kind == 10);
        return 0;
    }
    if (kind == 8) {
        read_vocabulary(data + 1, size - 1);
        return 0;
    }
    if (read_file(&t, kind, data + 1, size - 1) == VIT_OK) decode(&t);
    vit_tokenizer_free(&t);
    return 0;
}
