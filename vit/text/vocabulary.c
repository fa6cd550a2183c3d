#include "vit/text/vocabulary.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/base/utf8.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include <stdlib.h>
#include <string.h>

static const char *const sign_names[] = {"characters", "words", NULL};
VIT_CHECK_ROWS(sign_names, VIT_SIGNS_COUNT + 1);

/* ---- signs of a text ---- */

/* Moves *text past its next sign and returns the length of the sign in bytes, 0 at the end. */
static size_t next_sign(const char **text, vit_signs signs) {
    size_t length = 0;
    switch (signs) {
    case VIT_SIGNS_CHARACTERS:
        length = vit_utf8_length(*text);
        break;
    case VIT_SIGNS_WORDS:
        while (**text == ' ') ++*text;
        length = strcspn(*text, " ");
        break;
    case VIT_SIGNS_COUNT:
        break;
    }
    *text += length;
    return length;
}

static vit_status check_text(const char *text, vit_error *error) {
    const size_t valid = vit_utf8_valid(text, strlen(text));
    if (text[valid] == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "\"%.60s\": byte %zu is not valid UTF-8", text, valid);
}

/* ---- from texts ---- */

/* A sign in a text. */
typedef struct sign {
    const char *text;
    size_t length;
} sign;

static int compare(const void *a, const void *b) {
    const sign *x = a, *y = b;
    const size_t both = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->text, y->text, both);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/* Sorts signs[0..count) and keeps one of each. Returns how many are left. */
static size_t unite(sign *signs, size_t count) {
    size_t kept = 0;
    qsort(signs, count, sizeof *signs, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare(&signs[kept - 1], &signs[i]) != 0) signs[kept++] = signs[i];
    return kept;
}

typedef struct collection {
    sign *signs;
    size_t count, capacity;
    size_t united; /* this many, the first ones, are sorted and different */
} collection;

/* Collects the signs of a text. They are united whenever their number has doubled, so that memory
 * is needed for the different ones only. */
static vit_status collect(collection *c, vit_signs kind, const char *text, vit_error *error) {
    for (;;) {
        const size_t length = next_sign(&text, kind);
        if (length == 0) return VIT_OK;
        if (c->count == c->capacity && c->count > 2 * c->united + 1024)
            c->united = c->count = unite(c->signs, c->count);
        if (!VIT_MAKE_ROOM(c->signs, c->count, c->capacity, "the signs of the texts", error))
            return VIT_ERROR_MEMORY;
        c->signs[c->count++] = (sign){text - length, length};
    }
}

/* Makes the vocabulary of sorted signs: one block of memory, pointers first, then the strings. */
static vit_status take_signs(vit_vocabulary *v, const sign *signs, size_t count, vit_error *error) {
    size_t bytes = (VIT_ID_FIRST + count) * sizeof *v->texts + 1;
    for (size_t i = 0; i < count; i++) bytes += signs[i].length + 1;
    if (count > VIT_MOST_IDS)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%zu different %s, at most %zu are supported",
                        count, sign_names[v->signs], VIT_MOST_IDS);
    v->texts = vit_alloc(1, bytes);
    if (!v->texts) return vit_fail_memory(error, "a vocabulary", bytes);
    v->count = VIT_ID_FIRST + count;
    char *to = (char *)(v->texts + v->count);
    for (size_t i = 0; i < VIT_ID_FIRST; i++) v->texts[i] = to;
    to++;
    for (size_t i = 0; i < count; i++) {
        v->texts[VIT_ID_FIRST + i] = memcpy(to, signs[i].text, signs[i].length);
        to += signs[i].length + 1;
    }
    return VIT_OK;
}

vit_status vit_vocabulary_new(vit_vocabulary *out, vit_signs signs, const char *const *texts,
                              size_t count, vit_error *error) {
    collection c = {0};
    vit_status status = VIT_OK;
    *out = (vit_vocabulary){.signs = signs};
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        status = check_text(texts[i], error);
        if (status == VIT_OK) status = collect(&c, signs, texts[i], error);
    }
    if (status == VIT_OK) status = take_signs(out, c.signs, unite(c.signs, c.count), error);
    vit_free(c.signs);
    return status;
}

void vit_vocabulary_free(vit_vocabulary *v) {
    vit_free(v->texts);
    *v = (vit_vocabulary){0};
}

bool vit_vocabulary_equal(const vit_vocabulary *a, const vit_vocabulary *b) {
    if (a->signs != b->signs || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0) return false;
    return true;
}

/* ---- text -> ids ---- */

/* The id of a sign, or 0. */
static size_t find(const vit_vocabulary *v, const sign *wanted) {
    size_t low = VIT_ID_FIRST, high = v->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const sign other = {v->texts[middle], strlen(v->texts[middle])};
        const int order = compare(wanted, &other);
        if (order == 0) return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

vit_status vit_vocabulary_encode(uint32_t *ids, size_t *count, size_t most, const vit_vocabulary *v,
                                 const char *text, vit_error *error) {
    const char *at = text;
    size_t n = 0;
    *count = 0;
    const vit_status status = check_text(text, error);
    if (status != VIT_OK) return status;
    for (size_t length; (length = next_sign(&at, v->signs)) > 0; n++) {
        const sign wanted = {at - length, length};
        const size_t id = find(v, &wanted);
        if (id == 0)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "\"%.60s\": the %s \"%.*s\" is not in the vocabulary of %zu", text,
                            v->signs == VIT_SIGNS_WORDS ? "word" : "character",
                            (int)(length < 60 ? length : 60), wanted.text, v->count - VIT_ID_FIRST);
        if (n == most)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "\"%.60s\" is longer than %zu %s, the most allowed here", text, most,
                            sign_names[v->signs]);
        if (ids) ids[n] = (uint32_t)id;
    }
    *count = n;
    return VIT_OK;
}

/* ---- ids -> text ---- */

char *vit_vocabulary_decode(const vit_vocabulary *v, const uint32_t *ids, size_t count) {
    vit_string t = {0};
    vit_string_add_bytes(&t, "", 0);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < VIT_ID_FIRST || ids[i] >= v->count) continue;
        const char *text = v->texts[ids[i]];
        if (v->signs == VIT_SIGNS_WORDS && t.length > 0) vit_string_add_bytes(&t, " ", 1);
        vit_string_add_bytes(&t, text, strlen(text));
    }
    if (t.failed) vit_string_free(&t);
    return t.text;
}

/* ---- JSON ---- */

char *vit_vocabulary_write(const vit_vocabulary *v) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "signs", sign_names[v->signs]);
    vit_json_texts(&json, "texts", (const char *const *)v->texts + VIT_ID_FIRST,
                   v->count - VIT_ID_FIRST);
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

/* Checks that the texts are signs in the order of their bytes, as looking them up needs it. */
static vit_status take_texts(vit_vocabulary *v, char *const *texts, size_t count, const char *name,
                             vit_error *error) {
    sign *signs = vit_alloc(count, sizeof *signs);
    if (!signs) return vit_fail_memory(error, "a vocabulary", count * sizeof *signs);
    vit_status status = VIT_OK;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const char *end = texts[i];
        signs[i] = (sign){texts[i], strlen(texts[i])};
        if (signs[i].length == 0 || next_sign(&end, v->signs) != signs[i].length)
            status = vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%.60s\" is not one of %s", name,
                              texts[i], sign_names[v->signs]);
        else if (i > 0 && compare(&signs[i - 1], &signs[i]) >= 0)
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s: \"%.60s\" after \"%.60s\" is not in the order of bytes", name,
                              texts[i], texts[i - 1]);
    }
    if (status == VIT_OK) status = take_signs(v, signs, count, error);
    vit_free(signs);
    return status;
}

vit_status vit_vocabulary_copy(vit_vocabulary *out, const vit_vocabulary *from, vit_error *error) {
    *out = (vit_vocabulary){.signs = from->signs};
    if (from->count == 0) return take_signs(out, NULL, 0, error);
    return take_texts(out, from->texts + VIT_ID_FIRST, from->count - VIT_ID_FIRST, "a vocabulary",
                      error);
}

vit_status vit_vocabulary_read(vit_vocabulary *out, const char *json, const char *name,
                               vit_error *error) {
    int signs = VIT_SIGNS_CHARACTERS;
    const vit_field fields[] = {{"signs", VIT_FIELD_ENUM, &signs, sign_names},
                                {"texts", VIT_FIELD_OTHER, NULL, NULL}};
    json_t *object;
    char **texts = NULL;
    size_t count = 0;
    *out = (vit_vocabulary){0};
    vit_status status = vit_json_parse(&object, json, strlen(json), name, error);
    if (status != VIT_OK) return status;
    status = vit_json_read(object, fields, 2, name, error);
    if (status == VIT_OK)
        status = vit_json_strings(&texts, &count, json_object_get(object, "texts"), name, error);
    json_decref(object);
    out->signs = (vit_signs)signs;
    if (status == VIT_OK) status = take_texts(out, texts, count, name, error);
    vit_free(texts);
    if (status != VIT_OK) *out = (vit_vocabulary){0};
    return status;
}
