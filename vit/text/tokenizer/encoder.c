/* Text -> ids: encoder.h says in which steps. */
#include "vit/text/tokenizer/encoder.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"
#include "vit/text/tokenizer/tokens.h"
#include <stdlib.h>
#include <string.h>

vit_encoder *vit_encoder_new(void) {
    vit_encoder *e = vit_alloc(1, sizeof *e);
    if (!e) return NULL;
    e->unknown = VIT_NO_ID;
    memset(e->byte_ids, 0xff, sizeof e->byte_ids);
    return e;
}

void vit_encoder_free(vit_encoder *e) {
    if (!e) return;
    for (size_t i = 0; i < e->added_count; i++)
        if (e->added[i].normalised) vit_free((void *)(uintptr_t)e->added[i].text);
    vit_rules_free(&e->normalisers);
    vit_rules_free(&e->splitters);
    void *const all[] = {e->merges,   e->prefix, e->suffix,     e->rounded,   e->scores, e->types,
                         e->prefixes, e->added,  e->before.ids, e->after.ids, e};
    for (size_t i = 0; i < VIT_COUNT(all); i++) vit_free(all[i]);
}

vit_status vit_ids_put(vit_ids_list *out, uint32_t id, vit_error *error) {
    if (!VIT_MAKE_ROOM(out->ids, out->count, out->capacity, "ids", error)) return VIT_ERROR_MEMORY;
    out->ids[out->count++] = id;
    return VIT_OK;
}

/* ---- added tokens ---- */

vit_status vit_added_put(vit_tokenizer *t, vit_added token, vit_error *error) {
    vit_encoder *e = t->encoder;
    if (token.length == 0) return VIT_OK;
    if (!VIT_MAKE_ROOM(e->added, e->added_count, e->added_capacity, "added tokens", error))
        return VIT_ERROR_MEMORY;
    const bool normalised = token.normalised;
    token.normalised = false; /* the text is not owned yet */
    e->added[e->added_count] = token;
    if (normalised) {
        vit_string text = {0};
        bool first = false;
        const vit_status status = vit_normalise(&text, &first, t, token.text, token.length, error);
        if (status != VIT_OK) {
            vit_string_free(&text);
            return status;
        }
        e->added[e->added_count].text = text.text;
        e->added[e->added_count].length = text.length;
        e->added[e->added_count].normalised = true;
    }
    e->added_count++;
    return VIT_OK;
}

static int compare_added(const void *a, const void *b) {
    const vit_added *x = a, *y = b;
    if (x->normalised != y->normalised) return x->normalised ? 1 : -1;
    const uint8_t p = (uint8_t)x->text[0], q = (uint8_t)y->text[0];
    if (p != q) return p < q ? -1 : 1;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    const int order = memcmp(x->text, y->text, x->length);
    return order != 0 ? order : (x->id < y->id) - (x->id > y->id);
}

void vit_added_close(vit_tokenizer *t) {
    vit_encoder *e = t->encoder;
    if (e->added_count > 1) qsort(e->added, e->added_count, sizeof *e->added, compare_added);
    e->raw_count = 0;
    while (e->raw_count < e->added_count && !e->added[e->raw_count].normalised) e->raw_count++;
}

/* The longest of list[0..count) that text[0..length) begins with, or NULL. */
static const vit_added *find_added(const vit_added *list, size_t count, const char *text,
                                   size_t length) {
    size_t low = 0, high = count;
    const uint8_t c = (uint8_t)text[0];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].length > 0 && (uint8_t)list[middle].text[0] >= c)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < count && list[low].length > 0 && (uint8_t)list[low].text[0] == c; low++)
        if (list[low].length <= length && memcmp(list[low].text, text, list[low].length) == 0)
            return &list[low];
    return NULL;
}

/* Whether the token is a word by itself, where that is asked for. */
static bool stands_alone(const vit_added *a, const char *text, size_t start, size_t end,
                         size_t length) {
    uint32_t c;
    if (!a->single_word) return true;
    if (start > 0) {
        vit_utf8_before(&c, text, start);
        if (vit_is_one_of(VIT_WORD_CHARACTERS, c)) return false;
    }
    if (end == length) return true;
    vit_utf8_get(&c, text + end);
    return !vit_is_one_of(VIT_WORD_CHARACTERS, c);
}

/* Moves *start back over the spaces before it, but not beyond `from`; *end on over those behind. */
static void take_spaces(const vit_added *a, const char *text, size_t length, size_t from,
                        size_t *start, size_t *end) {
    uint32_t c;
    while (a->left && *start > from) {
        const size_t at = vit_utf8_before(&c, text, *start);
        if (!vit_is_one_of(VIT_SPACES, c)) break;
        *start = vit_max(at, from);
    }
    while (a->right && *end < length) {
        const size_t bytes = vit_utf8_get(&c, text + *end);
        if (!vit_is_one_of(VIT_SPACES, c)) break;
        *end += bytes;
    }
}

/* Cuts text[0..length) at the tokens of a list; `first`: the whole text begins with it. */
static vit_status cut_at_added(vit_parts *out, const vit_added *list, size_t count,
                               const char *text, size_t length, bool first, vit_error *error) {
    size_t from = 0;
    vit_status status = VIT_OK;
    for (size_t at = 0; at < length && status == VIT_OK && count > 0;) {
        const vit_added *a = find_added(list, count, text + at, length - at);
        if (!a) {
            at++;
            continue;
        }
        size_t start = at, end = at + a->length;
        at = end;
        if (!stands_alone(a, text, start, end, length)) continue;
        take_spaces(a, text, length, from, &start, &end);
        status = vit_parts_put_text(out, text, from, start, first && from == 0, error);
        if (status == VIT_OK)
            status = vit_parts_put(out, (vit_part){out->text.length, 0, a->id, false}, error);
        from = end;
    }
    return status != VIT_OK
               ? status
               : vit_parts_put_text(out, text, from, length, first && from == 0, error);
}

/* The text cut at the tokens that are looked for in it as it is; what is between is normalised and
 * cut again. */
static vit_status cut_and_normalise(vit_parts *out, const vit_tokenizer *t, const char *text,
                                    size_t length, vit_error *error) {
    const vit_encoder *e = t->encoder;
    vit_parts raw = {0};
    vit_status status = cut_at_added(&raw, e->added, e->raw_count, text, length, true, error);
    vit_string_add_bytes(&out->text, "", 0);
    for (size_t i = 0; i < raw.count && status == VIT_OK; i++) {
        const vit_part *part = &raw.list[i];
        vit_string normal = {0};
        if (part->id != VIT_NO_ID) {
            status = vit_parts_put(out, *part, error);
            continue;
        }
        vit_string_add_bytes(&normal, "", 0);
        bool first = part->first;
        status = vit_normalise(&normal, &first, t, raw.text.text + part->at, part->length, error);
        if (status == VIT_OK)
            status = cut_at_added(out, e->added_count > 0 ? e->added + e->raw_count : NULL,
                                  e->added_count - e->raw_count, normal.text, normal.length, first,
                                  error);
        vit_string_free(&normal);
    }
    vit_parts_free(&raw);
    return status;
}

/* ---- the model ---- */

static vit_status encode_whole(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                               size_t length, vit_error *error) {
    uint32_t id = vit_tokens_find(t, text, length);
    if (id == VIT_NO_ID) id = t->encoder->unknown;
    if (id == VIT_NO_ID)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "\"%.*s\" has no token, and the tokenizer none for the unknown",
                        (int)vit_min(length, 60), text);
    return vit_ids_put(out, id, error);
}

static vit_status encode_part(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                              size_t length, vit_error *error) {
    switch (t->encoder->kind) {
    case VIT_ENCODER_BPE:
    case VIT_ENCODER_SENTENCE_BPE:
        return vit_encode_bpe(out, t, text, length, error);
    case VIT_ENCODER_UNIGRAM:
        return vit_encode_unigram(out, t, text, length, error);
    case VIT_ENCODER_WORDPIECE:
        return vit_encode_wordpiece(out, t, text, length, error);
    case VIT_ENCODER_WORDLEVEL:
        return encode_whole(out, t, text, length, error);
    case VIT_ENCODER_COUNT:
        break;
    }
    return VIT_OK;
}

/* The ids of a part, without those of what the normaliser put in front of it. */
static vit_status encode_text(vit_ids_list *out, const vit_tokenizer *t, const char *text,
                              size_t length, vit_error *error) {
    const size_t before = out->count, leading = t->encoder->leading;
    const vit_status status = encode_part(out, t, text, length, error);
    if (status != VIT_OK || leading == 0 || out->count < before + leading) return status;
    out->count -= leading;
    memmove(out->ids + before, out->ids + before + leading,
            (out->count - before) * sizeof *out->ids);
    return VIT_OK;
}

static vit_status encode_parts(vit_ids_list *out, const vit_tokenizer *t, vit_parts *parts,
                               vit_error *error) {
    const vit_rules *rules = &t->encoder->splitters;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < rules->count && status == VIT_OK; i++)
        status = vit_cut_parts(parts, &rules->list[i], error);
    for (size_t i = 0; i < parts->count && status == VIT_OK; i++) {
        const vit_part *p = &parts->list[i];
        if (p->id != VIT_NO_ID)
            status = vit_ids_put(out, p->id, error);
        else
            status = encode_text(out, t, parts->text.text + p->at, p->length, error);
    }
    return status;
}

/* ---- a text ---- */

/* The ids with what stands around them, cut to `most`. */
static vit_status surround(vit_encoding *out, const vit_encoder *e, const vit_ids_list *inner,
                           size_t most, vit_error *error) {
    const bool ends = e->after_once && inner->count > 0 && e->after.count == 1 &&
                      inner->ids[inner->count - 1] == e->after.ids[0];
    const size_t behind = ends ? 0 : e->after.count, around = e->before.count + behind;
    if (most == 0) most = e->most > 0 ? e->most : SIZE_MAX;
    if (most < around)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "a text of at most %zu ids has no room for the %zu that the tokenizer adds",
                        most, around);
    const size_t kept = vit_min(inner->count, most - around);
    const size_t skipped = e->cuts_left ? inner->count - kept : 0;
    out->ids = vit_alloc(kept + around, sizeof *out->ids);
    if (!out->ids) return vit_fail_memory(error, "ids", (kept + around) * sizeof *out->ids);
    out->cut = kept < inner->count;
    const uint32_t *const lists[] = {e->before.ids, kept > 0 ? inner->ids + skipped : NULL,
                                     e->after.ids};
    const size_t counts[] = {e->before.count, kept, behind};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < counts[i]; k++) out->ids[out->count++] = lists[i][k];
    return VIT_OK;
}

vit_status vit_tokenizer_encode(vit_encoding *out, const vit_tokenizer *t, const char *text,
                                size_t length, size_t most, vit_error *error) {
    vit_parts parts = {0};
    vit_ids_list inner = {0};
    *out = (vit_encoding){0};
    if (length > VIT_MOST_TEXT)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "a text of %zu bytes, at most %zu are supported", length, VIT_MOST_TEXT);
    const size_t valid = vit_utf8_valid(text, length);
    if (valid < length)
        return vit_fail(error, VIT_ERROR_FORMAT, "\"%.*s\": byte %zu is not valid UTF-8",
                        (int)vit_min(valid, 60), text, valid);
    vit_status status = cut_and_normalise(&parts, t, text, length, error);
    if (status == VIT_OK) status = encode_parts(&inner, t, &parts, error);
    if (status == VIT_OK) status = surround(out, t->encoder, &inner, most, error);
    vit_parts_free(&parts);
    vit_free(inner.ids);
    return status;
}
