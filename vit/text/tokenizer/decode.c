/* Ids -> text. */
#include "vit/base/text.h"
#include "vit/text/tokenizer/tokenizer.h"
#include <string.h>

/* ---- bytes ---- */

/* GPT-2's alphabet: printable bytes are themselves, the others are, in order, U+0100 and so on.
 * *byte = that of the character at *text, which moves past it; false: it stands for no byte. */
static bool next_byte(uint8_t *byte, const char **text) {
    const uint8_t *at = (const uint8_t *)*text;
    const size_t length = vit_utf8_length(*text);
    uint32_t character = at[0];
    *text += length > 0 ? length : 1;
    if (length > 2 || length == 0) return false;
    if (length == 2) character = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    if (character < 256) {
        *byte = (uint8_t)character;
        return true;
    }
    const uint32_t other = character - 256; /* which of the bytes that are not printable */
    if (other < 33)
        *byte = (uint8_t)other; /* 0 to 32 */
    else if (other < 67)
        *byte = (uint8_t)(other + 94); /* 127 to 160 */
    else if (other == 67)
        *byte = 173;
    else
        return false;
    return true;
}

static void add_bytes_of(vit_string *out, const char *piece) {
    while (*piece != 0) {
        const char *start = piece;
        uint8_t byte;
        if (next_byte(&byte, &piece))
            vit_string_add_bytes(out, (const char *)&byte, 1);
        else
            vit_string_add_bytes(out, start, (size_t)(piece - start));
    }
}

/* ---- spaces ---- */

#define METASPACE "\xe2\x96\x81"

/* "<0x41>" stands for a byte that is in no other piece. */
static bool is_byte_piece(uint8_t *byte, const char *piece) {
    static const char digits[] = "0123456789ABCDEF";
    if (strlen(piece) != 6 || strncmp(piece, "<0x", 3) != 0 || piece[5] != '>') return false;
    const char *high = strchr(digits, piece[3]), *low = strchr(digits, piece[4]);
    if (!high || !low) return false;
    *byte = (uint8_t)((high - digits) * 16 + (low - digits));
    return true;
}

static void add_metaspace(vit_string *out, const char *piece, bool first) {
    uint8_t byte;
    if (is_byte_piece(&byte, piece)) {
        vit_string_add_bytes(out, (const char *)&byte, 1);
        return;
    }
    for (bool start = first; *piece != 0; start = false) {
        const char *space = strstr(piece, METASPACE);
        const size_t length = space ? (size_t)(space - piece) : strlen(piece);
        vit_string_add_bytes(out, piece, length);
        piece += length;
        if (!space) return;
        if (!start || length > 0) vit_string_add(out, " ");
        piece += strlen(METASPACE);
    }
}

/* ---- text ---- */

/* clean_up_tokenization of the libraries transformers and tokenizers, in place. Returns the new
 * length. */
static size_t clean_up(char *text) {
    size_t length = 0;
    static const char *const pairs[][2] = {
        {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const size_t from = strlen(pairs[i][0]), to = strlen(pairs[i][1]);
        char *write = text;
        for (const char *read = text; *read != 0;) {
            const bool here = strncmp(read, pairs[i][0], from) == 0;
            if (here)
                memcpy(write, pairs[i][1], to);
            else
                *write = *read;
            write += here ? to : 1;
            read += here ? from : 1;
        }
        *write = 0;
        length = (size_t)(write - text);
    }
    return length;
}

static void add_wordpiece(vit_string *out, const char *piece, bool first, bool cleans) {
    const bool goes_on = strncmp(piece, "##", 2) == 0 && !first;
    const size_t start = out->length;
    vit_string_add(out, "%s%s", goes_on || first ? "" : " ", piece + (goes_on ? 2 : 0));
    if (cleans && !out->failed) out->length = start + clean_up(out->text + start);
}

/* How many of bytes[0..size), which begin with no character, one U+FFFD stands for: those that
 * could begin a character (Unicode 15, section 3.9, "maximal subpart"), at least 1. */
static size_t bad_length(const uint8_t *b, size_t size) {
    const uint8_t lead = b[0];
    const size_t length = lead >= 0xf0 && lead <= 0xf4   ? 4
                          : lead >= 0xe0 && lead <= 0xef ? 3
                          : lead >= 0xc2 && lead <= 0xdf ? 2
                                                         : 1;
    const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (length == 1 || size < 2 || b[1] < low || b[1] > high) return 1;
    size_t n = 2;
    while (n < length && n < size && (b[n] & 0xc0) == 0x80) n++;
    return n;
}

/* The text with U+FFFD in place of 0 and of what is not UTF-8. */
static char *repair(vit_string *in) {
    vit_string out = {0};
    vit_string_add(&out, "%s", "");
    for (size_t i = 0; !in->failed && i < in->length;) {
        const uint8_t *at = (const uint8_t *)in->text + i;
        size_t length = vit_utf8_length(in->text + i);
        if (length > 0) {
            vit_string_add_bytes(&out, in->text + i, length);
        } else {
            vit_string_add(&out, "\xef\xbf\xbd");
            length = bad_length(at, in->length - i);
        }
        i += length;
    }
    if (in->failed || out.failed) vit_string_free(&out);
    return out.text;
}

static void add_piece(vit_string *out, const vit_tokenizer *t, const vit_token *token, bool first) {
    if (token->literal) {
        vit_string_add(out, "%s", token->text);
        return;
    }
    switch (t->kind) {
    case VIT_PIECES_BYTES:
        add_bytes_of(out, token->text);
        break;
    case VIT_PIECES_METASPACE:
        add_metaspace(out, token->text, first);
        break;
    case VIT_PIECES_WORDPIECE:
        add_wordpiece(out, token->text, first, t->cleans_pieces);
        break;
    case VIT_PIECES_SEPARATE:
        vit_string_add(out, "%s%s", first ? "" : " ", token->text);
        break;
    case VIT_PIECES_COUNT:
        break;
    }
}

char *vit_tokenizer_decode(const vit_tokenizer *t, const uint32_t *ids, size_t count) {
    vit_string raw = {0};
    bool first = true;
    vit_string_add(&raw, "%s", "");
    for (size_t i = 0; i < count; i++) {
        const vit_token *token = ids[i] < t->count ? &t->tokens[ids[i]] : NULL;
        if (!token || !token->text || token->special) continue;
        add_piece(&raw, t, token, first);
        first = false;
    }
    char *text = repair(&raw);
    vit_string_free(&raw);
    if (text && t->cleans) clean_up(text);
    return text;
}
