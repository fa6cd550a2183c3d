#include "vit/text/match.h"
#include "vit/base/sys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vit_string_add_name(vit_string *out, const char *name) {
    if (vit_text_forms)
        vit_text_forms->add(out, name);
    else
        vit_string_add_bytes(out, name, strlen(name));
}

/* A name to search by: decomposed; of lists of numbers the number without zeros before it. */
typedef struct key {
    const char *text;
    size_t index;
} key;

typedef struct keys {
    key *sorted; /* [count], by text, then by index */
    char *texts;
    size_t count;
} keys;

const char *vit_class_name(const vit_classes *c, size_t index, char number[32]) {
    if (c->names) return c->names[index];
    snprintf(number, 32, "%zu", index);
    return number;
}

/* ---- numbers ---- */

static bool is_number(const char *name) {
    const size_t length = strlen(name);
    return length > 0 && length < 10 && strspn(name, "0123456789") == length;
}

static bool are_numbers(const vit_classes *c) {
    for (size_t i = 0; c->names && i < c->count; i++)
        if (!is_number(c->names[i])) return false;
    return true;
}

/* ---- keys ---- */

static int compare_keys(const void *a, const void *b) {
    const key *x = a, *y = b;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void keys_free(keys *k) {
    vit_free(k->sorted);
    vit_free(k->texts);
    *k = (keys){0};
}

static vit_status make_keys(keys *out, const vit_classes *c, bool numbers, vit_error *error) {
    vit_string all = {0};
    char number[32];
    *out = (keys){.count = c->count};
    vit_string_add(&all, "%s", "");
    for (size_t i = 0; i < c->count; i++) {
        const char *name = vit_class_name(c, i, number);
        if (numbers) name += strspn(name, "0");
        vit_string_add_name(&all, name);
        vit_string_add_bytes(&all, "", 1);
    }
    out->texts = all.text;
    out->sorted = vit_alloc(c->count, sizeof *out->sorted);
    if (all.failed || !out->sorted) {
        keys_free(out);
        return vit_fail_memory(error, "names of classes", all.length);
    }
    const char *at = all.text;
    for (size_t i = 0; i < c->count; i++, at += strlen(at) + 1) out->sorted[i] = (key){at, i};
    qsort(out->sorted, c->count, sizeof *out->sorted, compare_keys);
    return VIT_OK;
}

/* How many keys from `first` on have the same text. */
static size_t run_of(const keys *k, size_t first) {
    size_t end = first + 1;
    while (end < k->count && strcmp(k->sorted[end].text, k->sorted[first].text) == 0) end++;
    return end - first;
}

/* Both lists are sorted: one walk along them finds all partners. */
static void pair_keys(size_t *to, const keys *a, const keys *b) {
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const int order = strcmp(a->sorted[i].text, b->sorted[k].text);
        const size_t here = run_of(a, i), there = run_of(b, k);
        for (size_t j = 0; order == 0 && here == there && j < here; j++)
            to[a->sorted[i + j].index] = b->sorted[k + j].index;
        if (order <= 0) i += here;
        if (order >= 0) k += there;
    }
}

static vit_status pair_names(size_t *to, const vit_classes *from, const vit_classes *others,
                             vit_error *error) {
    const bool numbers = are_numbers(from) && are_numbers(others);
    keys a = {0}, b = {0};
    vit_status status = make_keys(&a, from, numbers, error);
    if (status == VIT_OK) status = make_keys(&b, others, numbers, error);
    if (status == VIT_OK) pair_keys(to, &a, &b);
    keys_free(&a);
    keys_free(&b);
    return status;
}

/* ---- the whole ---- */

void vit_match_count(vit_match *m, size_t others) {
    m->lost = 0;
    m->moved = m->count != others;
    for (size_t i = m->count; i-- > 0;) {
        m->moved = m->moved || m->to[i] != i;
        if (m->to[i] != VIT_NO_CLASS) continue;
        m->first_lost = i;
        m->lost++;
    }
}

vit_status vit_match_classes(vit_match *out, const vit_classes *from, const vit_classes *to,
                             vit_error *error) {
    *out = (vit_match){.count = from->count, .to = vit_alloc(from->count, sizeof *out->to)};
    if (!out->to) return vit_fail_memory(error, "classes", from->count * sizeof *out->to);
    for (size_t i = 0; i < from->count; i++) out->to[i] = VIT_NO_CLASS;
    const bool from_numbers = are_numbers(from), to_numbers = are_numbers(to);
    if (!to->names && from->names && !from_numbers) {
        out->by = VIT_BY_ORDER;
        for (size_t i = 0; from->count == to->count && i < from->count; i++) out->to[i] = i;
    } else {
        const vit_status status = pair_names(out->to, from, to, error);
        if (status != VIT_OK) {
            vit_match_free(out);
            return status;
        }
    }
    vit_match_count(out, to->count);
    if (!from_numbers || to_numbers || out->lost < from->count) return VIT_OK;
    out->by = VIT_BY_NUMBER;
    for (size_t i = 0; i < from->count; i++) {
        const size_t number = from->names ? strtoul(from->names[i], NULL, 10) : i;
        if (number < to->count) out->to[i] = number;
    }
    vit_match_count(out, to->count);
    return VIT_OK;
}

void vit_match_free(vit_match *match) {
    vit_free(match->to);
    *match = (vit_match){0};
}

const char *vit_match_said(char text[256], const vit_match *m, const char *from, const char *to) {
    if (m->by == VIT_BY_NAME || m->lost == m->count) return NULL;
    if (m->by == VIT_BY_NUMBER)
        snprintf(text, 256,
                 "the classes of %s are numbers: they are taken as indices, from 0 on, of the "
                 "classes of %s",
                 from, to);
    else
        snprintf(text, 256,
                 "the classes of %s have no names: those of %s are taken in their order, which "
                 "nothing confirms",
                 to, from);
    return text;
}

void vit_classes_shown(char names[256], const vit_classes *c) {
    char number[32];
    size_t used = 0, i = 0;
    names[0] = 0;
    for (; i < c->count && i < 4; i++) {
        const char *name = vit_class_name(c, i, number);
        used += (size_t)snprintf(names + used, 60, "%s%.50s", i > 0 ? ", " : "", name);
        used = strlen(names);
    }
    if (i < c->count) snprintf(names + used, 40, " and %zu more", c->count - i);
}
