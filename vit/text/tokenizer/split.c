/* Pre-tokenisers: each cuts every part of a text into others. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/text/tokenizer/encoder.h"
#include <string.h>

void vit_parts_free(vit_parts *parts) {
    vit_string_free(&parts->text);
    vit_free(parts->list);
    *parts = (vit_parts){0};
}

vit_status vit_parts_put(vit_parts *p, vit_part part, vit_error *error) {
    if (!VIT_MAKE_ROOM(p->list, p->count, p->capacity, "the parts of a text", error))
        return VIT_ERROR_MEMORY;
    p->list[p->count++] = part;
    return VIT_OK;
}

vit_status vit_parts_put_text(vit_parts *p, const char *text, size_t from, size_t to, bool first,
                              vit_error *error) {
    const vit_part part = {p->text.length, to - from, VIT_NO_ID, first};
    if (from >= to) return VIT_OK;
    vit_string_add_bytes(&p->text, text + from, to - from);
    if (p->text.failed) return vit_fail_memory(error, "the parts of a text", to - from);
    return vit_parts_put(p, part, error);
}

/* A part that is being cut: its pieces go to `out`. */
typedef struct cutter {
    vit_parts *out;
    const char *text;
    size_t length;
    bool first; /* the whole text begins with it */
    size_t steps;
    vit_error *error;
} cutter;

static vit_status put(cutter *c, size_t from, size_t to) {
    return vit_parts_put_text(c->out, c->text, from, to, c->first && from == 0, c->error);
}

/* ---- matches ---- */

/* The next match from `from` on; false: there is none, and *start is the end of the text. */
static vit_status next_match(bool *found, size_t *start, size_t *end, cutter *c, const vit_rule *r,
                             size_t from) {
    *found = false;
    *start = *end = c->length;
    if (r->pattern)
        return vit_regex_find(found, start, end, r->pattern, c->text, c->length, from, &c->steps,
                              c->error);
    const size_t size = r->literal ? strlen(r->literal) : 0;
    for (size_t at = from; at < c->length && !*found;) {
        uint32_t code;
        const size_t bytes = vit_utf8_get(&code, c->text + at);
        if (r->literal)
            *found =
                size > 0 && at + size <= c->length && memcmp(c->text + at, r->literal, size) == 0;
        else
            *found = vit_is_one_of(r->set, code);
        if (*found) {
            *start = at;
            *end = at + (r->literal ? size : bytes);
        }
        at += bytes;
    }
    return VIT_OK;
}

/* What stands where, in the order of the text: pieces that match and pieces that do not. A piece is
 * only put when the next one is known, since it may take it along. */
typedef struct joiner {
    cutter *cut;
    vit_behaviour behaviour;
    size_t from, to; /* the piece that waits; empty: none does */
    bool waits, was_match;
} joiner;

static vit_status flush(joiner *j) {
    const bool waits = j->waits;
    j->waits = false;
    return waits ? put(j->cut, j->from, j->to) : VIT_OK;
}

static vit_status join(joiner *j, size_t from, size_t to, bool match) {
    vit_status status = VIT_OK;
    const bool was_match = j->was_match;
    if (from == to) return VIT_OK;
    j->was_match = match;
    switch (j->behaviour) {
    case VIT_REMOVED:
        return match ? VIT_OK : put(j->cut, from, to);
    case VIT_ISOLATED:
    case VIT_BEHAVIOUR_COUNT:
        return put(j->cut, from, to);
    case VIT_MERGED_WITH_PREVIOUS: /* a match joins what does not match in front of it */
        if (j->waits && match && !was_match) {
            j->to = to;
            return VIT_OK;
        }
        break;
    case VIT_MERGED_WITH_NEXT: /* what does not match joins the match in front of it */
        if (j->waits && !match && was_match) {
            j->to = to;
            return VIT_OK;
        }
        break;
    case VIT_CONTIGUOUS:
        if (j->waits && match == was_match) {
            j->to = to;
            return VIT_OK;
        }
        break;
    }
    status = flush(j);
    j->from = from;
    j->to = to;
    j->waits = true;
    return status;
}

static vit_status split_at_matches(cutter *c, const vit_rule *r) {
    joiner j = {.cut = c, .behaviour = r->behaviour};
    size_t at = 0, from = 0;
    vit_status status = VIT_OK;
    while (status == VIT_OK && from <= c->length) {
        size_t start, end;
        bool found;
        status = next_match(&found, &start, &end, c, r, from);
        if (status != VIT_OK || !found) break;
        status = join(&j, at, start, r->invert);
        if (status == VIT_OK) status = join(&j, start, end, !r->invert);
        at = end;
        from = end;
        if (start == end) {
            uint32_t code;
            from += end < c->length ? vit_utf8_get(&code, c->text + end) : 1;
        }
    }
    if (status == VIT_OK) status = join(&j, at, c->length, r->invert);
    return status == VIT_OK ? flush(&j) : status;
}

/* At spaces, which go, and around each mark of punctuation. */
static vit_status split_as_bert(cutter *c, const vit_rule *r) {
    (void)r;
    size_t from = 0;
    vit_status status = VIT_OK;
    for (size_t at = 0; at < c->length && status == VIT_OK;) {
        uint32_t code;
        const size_t bytes = vit_utf8_get(&code, c->text + at);
        const bool space = vit_is_one_of(VIT_SPACES, code);
        if (space || vit_is_one_of(VIT_BERT_PUNCTUATION, code)) {
            status = put(c, from, at);
            if (status == VIT_OK && !space) status = put(c, at, at + bytes);
            from = at + bytes;
        }
        at += bytes;
    }
    return status == VIT_OK ? put(c, from, c->length) : status;
}

/* ---- rules that change the text, too ---- */

static vit_status byte_level(cutter *c, const vit_rule *r) {
    vit_string with = {0};
    cutter inner = *c;
    vit_parts pieces = {0};
    vit_status status = VIT_OK;
    if (r->prefix && c->text[0] != ' ') vit_string_add_bytes(&with, " ", 1);
    vit_string_add_bytes(&with, c->text, c->length);
    if (with.failed) return vit_fail_memory(c->error, "the parts of a text", c->length);
    inner.text = with.text;
    inner.length = with.length;
    inner.out = &pieces;
    status = r->pattern ? split_at_matches(&inner, r) : put(&inner, 0, inner.length);
    for (size_t i = 0; i < pieces.count && status == VIT_OK; i++) {
        vit_part part = pieces.list[i];
        const char *text = pieces.text.text + part.at;
        const size_t length = part.length;
        part.at = c->out->text.length;
        vit_string_add_alphabet(&c->out->text, text, length);
        part.length = c->out->text.length - part.at;
        status = c->out->text.failed ? vit_fail_memory(c->error, "the parts of a text", length)
                                     : vit_parts_put(c->out, part, c->error);
    }
    vit_parts_free(&pieces);
    vit_string_free(&with);
    return status;
}

/* Whether the rule puts its content in front of a part that does not begin with it. */
static bool prepends(const vit_rule *r, bool first) {
    switch (r->prepend) {
    case VIT_PREPEND_NEVER:
        return false;
    case VIT_PREPEND_ALWAYS:
        return true;
    case VIT_PREPEND_FIRST:
        return first;
    }
    return false;
}

static vit_status metaspace(cutter *c, const vit_rule *r) {
    const size_t size = strlen(r->content);
    vit_string with = {0};
    for (size_t i = 0; i < c->length; i++)
        if (c->text[i] == ' ')
            vit_string_add_bytes(&with, r->content, size);
        else
            vit_string_add_bytes(&with, c->text + i, 1);
    const bool begins =
        !with.failed && with.length >= size && memcmp(with.text, r->content, size) == 0;
    vit_string all = {0};
    if (!begins && prepends(r, c->first)) vit_string_add_bytes(&all, r->content, size);
    vit_string_add_bytes(&all, with.text, with.length);
    vit_status status = VIT_OK;
    if (with.failed || all.failed)
        status = vit_fail_memory(c->error, "the parts of a text", c->length);
    if (status == VIT_OK) {
        cutter inner = *c;
        const vit_rule at_marks = {.literal = r->content, .behaviour = VIT_MERGED_WITH_NEXT};
        inner.text = all.text;
        inner.length = all.length;
        status = r->splits ? split_at_matches(&inner, &at_marks) : put(&inner, 0, inner.length);
    }
    vit_string_free(&with);
    vit_string_free(&all);
    return status;
}

/* How the rules that cut do it; all others do so at matches. */
static vit_status (*const cuts[])(cutter *c, const vit_rule *r) = {
    [VIT_RULE_BYTE_LEVEL] = byte_level,
    [VIT_RULE_METASPACE] = metaspace,
    [VIT_RULE_BERT_SPLIT] = split_as_bert,
};
VIT_CHECK_ROWS(cuts, VIT_RULE_COUNT);

vit_status vit_cut_parts(vit_parts *parts, const vit_rule *r, vit_error *error) {
    vit_parts out = {0};
    vit_status status = VIT_OK;
    vit_string_add_bytes(&out.text, "", 0);
    for (size_t i = 0; i < parts->count && status == VIT_OK; i++) {
        const vit_part *part = &parts->list[i];
        cutter c = {&out, parts->text.text + part->at, part->length, part->first, VIT_REGEX_STEPS,
                    error};
        status = part->id != VIT_NO_ID ? vit_parts_put(&out, *part, error)
                                       : (cuts[r->kind] ? cuts[r->kind] : split_at_matches)(&c, r);
    }
    vit_parts_free(parts);
    *parts = out;
    return status;
}
