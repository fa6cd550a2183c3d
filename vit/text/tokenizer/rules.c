/* Normalisers, which make one text of another, and the list of rules. split.c has those that cut.
 */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include <string.h>

void vit_rules_free(vit_rules *rules) {
    for (size_t i = 0; i < rules->count; i++) {
        vit_regex_free(rules->list[i].pattern);
        vit_free(rules->list[i].literal);
        vit_free(rules->list[i].content);
        vit_charsmap_free(rules->list[i].map);
    }
    vit_free(rules->list);
    *rules = (vit_rules){0};
}

vit_rule *vit_rules_add(vit_rules *rules, vit_rule_kind kind, vit_error *error) {
    if (!VIT_MAKE_ROOM(rules->list, rules->count, rules->capacity, "the rules of a tokenizer",
                       error))
        return NULL;
    rules->list[rules->count] = (vit_rule){.kind = kind};
    return &rules->list[rules->count++];
}

/* ---- characters ---- */

/* GPT-2's: printable bytes are themselves, the others are, in order, U+0100 and so on. */
static uint32_t alphabet(uint8_t byte) {
    if (byte <= 32) return 256u + byte;
    if (byte >= 127 && byte <= 160) return 256u + 33u + (byte - 127u);
    return byte == 173 ? 256u + 67u : byte;
}

void vit_string_add_alphabet(vit_string *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) vit_string_add_code(out, alphabet((uint8_t)text[i]));
}

/* Appends the text without the characters of a set. */
static void add_without(vit_string *out, const char *text, size_t length, vit_characters set) {
    for (size_t at = 0; at < length;) {
        uint32_t c;
        const size_t bytes = vit_utf8_get(&c, text + at);
        if (!vit_is_one_of(set, c)) vit_string_add_bytes(out, text + at, bytes);
        at += bytes;
    }
}

static bool is_chinese(uint32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
           (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
           (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/* The first two of BERT's steps. */
static void add_bert_clean(vit_string *out, const vit_rule *r, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        uint32_t c;
        const size_t bytes = vit_utf8_get(&c, text + at);
        at += bytes;
        if (r->cleans && vit_is_one_of(VIT_BERT_REMOVED, c)) continue;
        if (r->cleans && vit_is_one_of(VIT_SPACES, c)) c = ' ';
        if (r->spaces && is_chinese(c)) vit_string_add_bytes(out, " ", 1);
        vit_string_add_code(out, c);
        if (r->spaces && is_chinese(c)) vit_string_add_bytes(out, " ", 1);
    }
}

static void add_bert(vit_string *out, const vit_rule *r, const char *text, size_t length) {
    vit_string clean = {0}, form = {0}, bare = {0};
    vit_string_add_bytes(&bare, "", 0);
    add_bert_clean(&clean, r, text, length);
    if (r->accents) {
        vit_string_add_form(&form, clean.text, clean.length, VIT_FORM_NFD);
        add_without(&bare, form.text, form.length, VIT_BERT_ACCENTS);
    } else {
        vit_string_add_bytes(&bare, clean.text, clean.length);
    }
    if (r->lower)
        vit_string_add_lower(out, bare.text, bare.length, false);
    else
        vit_string_add_bytes(out, bare.text, bare.length);
    if (clean.failed || form.failed || bare.failed) out->failed = true;
    vit_string_free(&clean);
    vit_string_free(&form);
    vit_string_free(&bare);
}

static void add_nmt(vit_string *out, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        uint32_t c;
        at += vit_utf8_get(&c, text + at);
        const bool removed = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) ||
                             c == 0x7f || c == 0x8f || c == 0x9f;
        const bool space = c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                           (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 ||
                           c == 0x2581 || c == 0xfeff || c == 0xfffd;
        if (!removed) vit_string_add_code(out, space ? ' ' : c);
    }
}

/* ---- spaces ---- */

/* The bytes of spaces at the beginning of a text, and of the text up to those at its end. */
static size_t leading(const char *text, size_t length) {
    uint32_t c;
    size_t at = 0;
    while (at < length) {
        const size_t bytes = vit_utf8_get(&c, text + at);
        if (!vit_is_one_of(VIT_SPACES, c)) break;
        at += bytes;
    }
    return at;
}

static size_t trailing(const char *text, size_t length) {
    uint32_t c;
    while (length > 0) {
        const size_t at = vit_utf8_before(&c, text, length);
        if (!vit_is_one_of(VIT_SPACES, c)) break;
        length = at;
    }
    return length;
}

static void add_stripped(vit_string *out, const vit_rule *r, const char *text, size_t length) {
    const size_t end = r->right ? trailing(text, length) : length;
    const size_t start = r->left ? leading(text, end) : 0;
    vit_string_add_bytes(out, text + start, end - start);
}

/* Python's str.isspace. */
static bool is_python_space(uint32_t c) {
    return vit_is_one_of(VIT_SPACES, c) || (c >= 0x1c && c <= 0x1f);
}

/* canonicalize_text of transformers' SiglipTokenizer, after U+2581 became a space. It encodes the
 * text behind its unknown token, `content`, and a space where the whole text begins. */
static void add_siglip(vit_string *out, const vit_rule *r, const char *text, size_t length,
                       bool first) {
    vit_string lower = {0};
    bool space = false, begun = false;
    vit_string_add(out, "%s%s", r->content, first ? " " : "");
    vit_string_add_bytes(&lower, "", 0);
    if (r->lower)
        vit_string_add_lower(&lower, text, length, true);
    else
        vit_string_add_bytes(&lower, text, length);
    for (size_t at = 0; at < lower.length;) {
        uint32_t c;
        at += vit_utf8_get(&c, lower.text + at);
        if (c > ' ' && c < 0x7f && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", (int)c)) continue;
        if (c == 0x2581 || is_python_space(c)) {
            space = begun;
            continue;
        }
        if (space) vit_string_add_bytes(out, " ", 1);
        vit_string_add_code(out, c);
        space = false;
        begun = true;
    }
    if (lower.failed) out->failed = true;
    vit_string_free(&lower);
}

/* ---- SentencePiece ---- */

/* The library tokenizers looks at graphemes of less than six bytes as a whole, and at characters;
 * of each it takes the shortest beginning that is in the table, and loses the rest. */
static void add_mapped(vit_string *out, const vit_rule *r, const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        const size_t whole = vit_grapheme_length(text + at, length - at);
        size_t taken;
        const char *to =
            whole < 6 ? vit_charsmap_find(r->map, text + at, whole, false, &taken) : NULL;
        if (to) {
            vit_string_add(out, "%s", to);
            at += whole;
            continue;
        }
        for (const size_t end = at + whole; at < end;) {
            uint32_t c;
            const size_t bytes = vit_utf8_get(&c, text + at);
            to = vit_charsmap_find(r->map, text + at, bytes, false, &taken);
            if (to)
                vit_string_add(out, "%s", to);
            else
                vit_string_add_bytes(out, text + at, bytes);
            at += bytes;
        }
    }
}

/* The library sentencepiece takes the longest that is in the table; spaces become U+2581, those
 * that follow others or stand at an end are taken out. */
static void add_sentencepiece(vit_string *out, const vit_rule *r, const vit_tokenizer *t,
                              const char *text, size_t length) {
    static const char mark[] = "\xe2\x96\x81";
    const size_t start = out->length;
    bool after_space = !r->extra, begun = false;
    for (size_t at = 0; at < length;) {
        uint32_t c;
        size_t bytes = vit_utf8_get(&c, text + at);
        const size_t whole = vit_user_piece(&c, t, text + at, length - at);
        const char *to =
            whole > 0 ? NULL : vit_charsmap_find(r->map, text + at, length - at, true, &bytes);
        if (whole > 0) bytes = whole;
        const char *from = to ? to : text + at;
        size_t n = to ? strlen(to) : bytes;
        at += bytes;
        /* spaces at the beginning are passed over before one is put there */
        if (!begun && !r->extra && n == 1 && *from == ' ') continue;
        if (!begun && r->dummy) vit_string_add_bytes(out, mark, 3);
        begun = true;
        while (after_space && n > 0 && *from == ' ') {
            from++;
            n--;
        }
        if (n == 0) continue;
        after_space = !r->extra && from[n - 1] == ' ';
        for (; n > 0; n--, from++)
            vit_string_add_bytes(out, *from == ' ' ? mark : from, *from == ' ' ? 3 : 1);
    }
    while (!r->extra && !out->failed && out->length >= start + 3 &&
           memcmp(out->text + out->length - 3, mark, 3) == 0)
        out->length -= 3;
}

/* ---- replacing ---- */

static void add_literal_replaced(vit_string *out, const vit_rule *r, const char *text,
                                 size_t length) {
    const size_t size = strlen(r->literal);
    for (size_t at = 0; at < length;)
        if (size > 0 && at + size <= length && memcmp(text + at, r->literal, size) == 0) {
            vit_string_add(out, "%s", r->content);
            at += size;
        } else {
            vit_string_add_bytes(out, text + at++, 1);
        }
}

static vit_status add_replaced(vit_string *out, const vit_rule *r, const char *text, size_t length,
                               vit_error *error) {
    size_t at = 0, from = 0, steps = VIT_REGEX_STEPS;
    while (from <= length) {
        size_t start, end;
        bool found;
        const vit_status status =
            vit_regex_find(&found, &start, &end, r->pattern, text, length, from, &steps, error);
        if (status != VIT_OK) return status;
        if (!found) break;
        vit_string_add_bytes(out, text + at, start - at);
        vit_string_add(out, "%s", r->content);
        at = from = end;
        if (start == end) { /* an empty match: the next one begins a character later */
            uint32_t c;
            from += end < length ? vit_utf8_get(&c, text + end) : 1;
        }
    }
    vit_string_add_bytes(out, text + at, length - at);
    return VIT_OK;
}

/* ---- a normaliser ---- */

static vit_status apply(vit_string *out, const vit_tokenizer *t, const vit_rule *r,
                        const char *text, size_t length, bool first, vit_error *error) {
    switch (r->kind) {
    case VIT_RULE_NFC:
        vit_string_add_form(out, text, length, VIT_FORM_NFC);
        break;
    case VIT_RULE_NFD:
        vit_string_add_form(out, text, length, VIT_FORM_NFD);
        break;
    case VIT_RULE_NFKC:
        vit_string_add_form(out, text, length, VIT_FORM_NFKC);
        break;
    case VIT_RULE_NFKD:
        vit_string_add_form(out, text, length, VIT_FORM_NFKD);
        break;
    case VIT_RULE_LOWER:
        vit_string_add_lower(out, text, length, false);
        break;
    case VIT_RULE_STRIP:
        add_stripped(out, r, text, length);
        break;
    case VIT_RULE_REPLACE:
        if (!r->literal) return add_replaced(out, r, text, length, error);
        add_literal_replaced(out, r, text, length);
        break;
    case VIT_RULE_PREPEND:
        if (length > 0) vit_string_add(out, "%s", r->content);
        vit_string_add_bytes(out, text, length);
        break;
    case VIT_RULE_APPEND:
        vit_string_add_bytes(out, text, length);
        if (length > 0) vit_string_add(out, "%s", r->content);
        break;
    case VIT_RULE_ACCENTS:
        add_without(out, text, length, VIT_ACCENTS);
        break;
    case VIT_RULE_NMT:
        add_nmt(out, text, length);
        break;
    case VIT_RULE_BERT:
        add_bert(out, r, text, length);
        break;
    case VIT_RULE_CHARSMAP:
        add_mapped(out, r, text, length);
        break;
    case VIT_RULE_SENTENCEPIECE:
        add_sentencepiece(out, r, t, text, length);
        break;
    case VIT_RULE_SIGLIP:
        add_siglip(out, r, text, length, first);
        break;
    case VIT_RULE_ALPHABET:
        vit_string_add_alphabet(out, text, length);
        break;
    case VIT_RULE_BYTE_LEVEL:
    case VIT_RULE_METASPACE:
    case VIT_RULE_SPLIT:
    case VIT_RULE_BERT_SPLIT:
    case VIT_RULE_COUNT:
        break;
    }
    return VIT_OK;
}

/* Whether a rule takes out a character that stands alone. */
static bool takes_alone(const vit_rule *r, const char *text, size_t length) {
    vit_string alone = {0};
    vit_error ignored;
    const vit_status status = apply(&alone, NULL, r, text, length, false, &ignored);
    const bool gone = status == VIT_OK && alone.length == 0;
    vit_string_free(&alone);
    return gone;
}

/* Rules that may take out characters; `strips`: only at the ends. */
static const struct {
    bool takes, strips;
} takers[] = {
    [VIT_RULE_STRIP] = {.strips = true},  [VIT_RULE_REPLACE] = {.takes = true},
    [VIT_RULE_ACCENTS] = {.takes = true}, [VIT_RULE_NMT] = {.takes = true},
    [VIT_RULE_BERT] = {.takes = true},    [VIT_RULE_BERT_SPLIT] = {false, false},
};
VIT_CHECK_ROWS(takers, VIT_RULE_COUNT);

/* Whether a rule takes out the first character. */
static bool takes_first(const vit_rule *r, const char *text, size_t length) {
    uint32_t c;
    if (length == 0) return false;
    const size_t bytes = vit_utf8_get(&c, text);
    if (takers[r->kind].strips) return r->left && vit_is_one_of(VIT_SPACES, c);
    return takers[r->kind].takes && takes_alone(r, text, bytes);
}

vit_status vit_normalise_by(vit_string *out, const vit_tokenizer *t, const vit_rule *rule,
                            const char *text, size_t length, vit_error *error) {
    vit_string_add_bytes(out, "", 0);
    const vit_status status = apply(out, t, rule, text, length, false, error);
    return status == VIT_OK && out->failed ? vit_fail_memory(error, "a text", length) : status;
}

/* A normaliser may make a text longer, each by the same factor: the sum has a limit. */
#define MOST_NORMALISED (4 * VIT_MOST_TEXT)

vit_status vit_normalise(vit_string *out, bool *first, const vit_tokenizer *t, const char *text,
                         size_t length, vit_error *error) {
    const vit_rules *rules = &t->encoder->normalisers;
    vit_string now = {0};
    vit_status status = VIT_OK;
    vit_string_add_bytes(&now, text, length);
    for (size_t i = 0; i < rules->count && status == VIT_OK && !now.failed; i++) {
        vit_string next = {0};
        vit_string_add_bytes(&next, "", 0);
        status = apply(&next, t, &rules->list[i], now.text, now.length, *first, error);
        if (*first && takes_first(&rules->list[i], now.text, now.length)) *first = false;
        if (status == VIT_OK && next.length > MOST_NORMALISED)
            status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                              "a text of %zu bytes has more than %zu when it is normalised", length,
                              MOST_NORMALISED);
        vit_string_free(&now);
        now = next;
    }
    if (status == VIT_OK) vit_string_add_bytes(out, now.text, now.length);
    if (status == VIT_OK && (now.failed || out->failed))
        status = vit_fail_memory(error, "a normalised text", length);
    vit_string_free(&now);
    return status;
}
