/* WordPiece: of a word the longest token that begins it, then of the rest; all or nothing. */
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include "vit/text/tokenizer/tokens.h"
#include <string.h>

static size_t count_characters(const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

/* The longest token that text[0..*length) begins with; *length becomes its length. */
static uint32_t longest(const vit_tokenizer *t, char *with_prefix, size_t prefix, const char *text,
                        size_t *length) {
    for (size_t end = *length; end > 0; end--) {
        if (end < *length && ((uint8_t)text[end] & 0xc0) == 0x80) continue;
        memcpy(with_prefix + prefix, text, end);
        const uint32_t id = vit_tokens_find(t, with_prefix, prefix + end);
        if (id != VIT_NO_ID) {
            *length = end;
            return id;
        }
    }
    return VIT_NO_ID;
}

vit_status vit_encode_wordpiece(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                                size_t length, vit_error *error) {
    const vit_encoder *e = t->encoder;
    const char *prefix = e->prefix ? e->prefix : "";
    const size_t before = out->count, prefix_length = strlen(prefix);
    vit_status status = VIT_OK;
    uint32_t id = VIT_NO_ID;
    if (count_characters(text, length) <= e->most_characters) {
        char *buffer = vit_alloc_unset(prefix_length + length, 1);
        if (!buffer) return vit_fail_memory(error, "a word", length);
        memcpy(buffer, prefix, prefix_length);
        for (size_t at = 0; at < length && status == VIT_OK;) {
            size_t bytes = length - at;
            id = at == 0 ? longest(t, buffer, 0, text, &bytes)
                         : longest(t, buffer, prefix_length, text + at, &bytes);
            if (at == 0) memcpy(buffer, prefix, prefix_length);
            if (id == VIT_NO_ID) break;
            status = vit_ids_put(out, id, error);
            at += bytes;
        }
        vit_free(buffer);
    }
    if (status != VIT_OK || id != VIT_NO_ID || length == 0) return status;
    out->count = before;
    return vit_ids_put(out, e->unknown, error);
}
