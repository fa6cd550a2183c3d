/* Lessons: the pictures of a teaching, kept in a file of their own, docs/formats.md#lessons, so
 * that one of them can be forgotten, relabelled or added later; and the order that makes what is
 * learnt a function of them alone. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/tensors/checksum.h"
#include "vit/tensors/safetensors.h"
#include "vit/tensors/tensors.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KEY "vit.lessons"
#define FILE_LIMIT ((size_t)8 << 30)
#define DIGITS 64

/* ---- the order ---- */

/* A picture as it is sorted: by its class, its name, its bytes. */
typedef struct place {
    const char *class_name, *name;
    const uint8_t *digest;
    size_t from; /* its index before */
} place;

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = strcmp(x->class_name, y->class_name);
    if (order == 0) order = strcmp(x->name, y->name);
    return order != 0 ? order : memcmp(x->digest, y->digest, 32);
}

/* Puts the pictures into that order. */
static vit_status sort_pictures(vit_few_shot *t, vit_error *error) {
    const size_t n = t->count, picture = t->views * t->width;
    place *places = vit_alloc(n, sizeof *places);
    vit_taught_picture *pictures = vit_alloc(n, sizeof *pictures);
    size_t *labels = vit_alloc(n, sizeof *labels);
    float *features = vit_alloc_unset(n, picture * sizeof *features);
    vit_status status = VIT_OK;
    if (!places || !pictures || !labels || !features)
        status = vit_fail_memory(error, "lessons", n * picture * sizeof *features);
    for (size_t i = 0; i < n && status == VIT_OK; i++) {
        const vit_taught_picture *p = &t->pictures[i];
        places[i] = (place){t->classes[t->labels[i]], vit_taught_name(p), p->digest, i};
    }
    if (status == VIT_OK && n > 1) qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n && status == VIT_OK; i++) {
        const size_t from = places[i].from;
        pictures[i] = t->pictures[from];
        labels[i] = t->labels[from];
        memcpy(features + i * picture, t->features + from * picture, picture * sizeof *features);
    }
    if (status == VIT_OK && n > 0) {
        memcpy(t->pictures, pictures, n * sizeof *pictures);
        memcpy(t->labels, labels, n * sizeof *labels);
        memcpy(t->features, features, n * picture * sizeof *features);
    }
    vit_free(places);
    vit_free(pictures);
    vit_free(labels);
    vit_free(features);
    return status;
}

/* Classes in the order of their names' bytes; those without a picture go. */
static vit_status sort_classes(vit_few_shot *t, vit_error *error) {
    char **sorted = vit_alloc(t->class_count, sizeof *sorted);
    size_t *at = vit_alloc(t->class_count, sizeof *at), kept = 0;
    bool *used = vit_alloc(t->class_count, sizeof *used);
    vit_status status = VIT_OK;
    if (!sorted || !at || !used)
        status = vit_fail_memory(error, "classes", t->class_count * sizeof *sorted);
    for (size_t i = 0; i < t->count && status == VIT_OK; i++) used[t->labels[i]] = true;
    for (size_t i = 0; i < t->test_count && status == VIT_OK; i++)
        if (!used[t->test_labels[i]])
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "no training picture of %s, which the test part has",
                              t->classes[t->test_labels[i]]);
    for (size_t k = 0; k < t->class_count && status == VIT_OK; k++)
        if (used[k]) sorted[kept++] = t->classes[k];
    if (status == VIT_OK && kept > 1) qsort(sorted, kept, sizeof *sorted, vit_compare_texts);
    for (size_t k = 0; k < kept && status == VIT_OK; k++)
        for (size_t j = 0; j < t->class_count; j++)
            if (t->classes[j] == sorted[k]) at[j] = k;
    for (size_t i = 0; i < t->count && status == VIT_OK; i++) t->labels[i] = at[t->labels[i]];
    for (size_t i = 0; i < t->test_count && status == VIT_OK; i++)
        t->test_labels[i] = at[t->test_labels[i]];
    for (size_t k = 0; k < t->class_count && status == VIT_OK; k++)
        if (!used[k]) vit_free(t->classes[k]);
    if (status == VIT_OK) {
        if (kept > 0) memcpy(t->classes, sorted, kept * sizeof *sorted);
        t->class_count = kept;
    }
    vit_free(sorted);
    vit_free(at);
    vit_free(used);
    return status;
}

vit_status vit_few_shot_sort(vit_few_shot *t, vit_error *error) {
    vit_status status = sort_pictures(t, error);
    if (status == VIT_OK) status = sort_classes(t, error);
    if (status != VIT_OK) return status;
    vit_sha256 hash; /* as of a folder with these pictures in folders of their classes */
    vit_sha256_start(&hash);
    for (size_t i = 0; i < t->count; i++) {
        const char *class_name = t->classes[t->labels[i]], *name = vit_taught_name(&t->pictures[i]);
        vit_sha256_add(&hash, class_name, strlen(class_name));
        vit_sha256_add(&hash, "/", 1);
        vit_sha256_add(&hash, name, strlen(name) + 1);
        vit_sha256_add(&hash, t->pictures[i].digest, 32);
    }
    vit_sha256_hex(&hash, t->checksum);
    vit_few_shot_changed(t);
    return VIT_OK;
}

/* ---- a picture by its name ---- */

/* Whether `text` is NAME, or ends with CLASS/NAME, or is the SHA-256 of the picture's bytes. */
static bool is_called(const vit_few_shot *t, size_t i, const char *text) {
    const vit_taught_picture *p = &t->pictures[i];
    const char *slash = strrchr(text, '/'), *name = vit_taught_name(p);
    const char *class_name = t->classes[t->labels[i]];
    const size_t length = strlen(class_name);
    char hex[DIGITS + 1];
    vit_sha256_digits(hex, p->digest);
    if (p->has_digest && strcmp(text, hex) == 0) return true;
    if (!p->name || strcmp(vit_path_last(text), name) != 0) return false;
    if (!slash) return true;
    const size_t before = (size_t)(slash - text);
    return before >= length && memcmp(slash - length, class_name, length) == 0 &&
           (before == length || slash[-(ptrdiff_t)length - 1] == '/');
}

static bool are_equal(const vit_few_shot *t, size_t a, size_t b) {
    const vit_taught_picture *p = &t->pictures[a], *q = &t->pictures[b];
    return t->labels[a] == t->labels[b] && p->has_digest && q->has_digest &&
           memcmp(p->digest, q->digest, 32) == 0 &&
           strcmp(vit_taught_name(p), vit_taught_name(q)) == 0;
}

vit_status vit_few_shot_find(size_t *index, const vit_few_shot *t, const char *name,
                             vit_error *error) {
    VIT_ENTRY;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->count; i++) {
        if (!is_called(t, i, name)) continue;
        if (found != SIZE_MAX && !are_equal(t, found, i)) {
            char a[DIGITS + 1], b[DIGITS + 1];
            vit_sha256_digits(a, t->pictures[found].digest);
            vit_sha256_digits(b, t->pictures[i].digest);
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: several pictures are called so, such as %s/%s (%.12s...) and "
                            "%s/%s (%.12s...): name one by CLASS/NAME or all of its SHA-256",
                            name, t->classes[t->labels[found]],
                            vit_taught_name(&t->pictures[found]), a, t->classes[t->labels[i]],
                            vit_taught_name(&t->pictures[i]), b);
        }
        if (found == SIZE_MAX) found = i;
    }
    *index = found;
    if (found != SIZE_MAX) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: no picture of the %zu is called so, expected NAME, CLASS/NAME or the "
                    "SHA-256 of its file",
                    name, t->count);
}

/* ---- the file ---- */

/* What is kept of a vit_likeness, field after field; its two flags follow as one byte. */
static const struct {
    size_t offset, size;
} likeness_fields[] = {
#define FIELD(name) \
    { offsetof(vit_likeness, name), sizeof(((vit_likeness *)0)->name) }
    FIELD(digest), FIELD(hashes), FIELD(color), FIELD(grey), FIELD(tint),
};
enum { FLAT = 1, PHOTO = 2 };

static size_t likeness_size(void) {
    size_t size = 1;
    for (size_t i = 0; i < VIT_COUNT(likeness_fields); i++) size += likeness_fields[i].size;
    return size;
}

static void write_likeness(uint8_t *out, const vit_likeness *l) {
    static const vit_likeness none = {.is_flat = true};
    if (!l) l = &none;
    for (size_t i = 0; i < VIT_COUNT(likeness_fields); out += likeness_fields[i++].size)
        memcpy(out, (const char *)l + likeness_fields[i].offset, likeness_fields[i].size);
    *out = (uint8_t)((l->is_flat ? FLAT : 0) | (l->is_photo ? PHOTO : 0));
}

/* False for what no picture has. */
static bool read_likeness(vit_likeness *l, const uint8_t *in) {
    for (size_t i = 0; i < VIT_COUNT(likeness_fields); in += likeness_fields[i++].size)
        memcpy((char *)l + likeness_fields[i].offset, in, likeness_fields[i].size);
    l->is_flat = *in & FLAT;
    l->is_photo = *in & PHOTO;
    return *in <= (FLAT | PHOTO) && isfinite(l->tint[0]) && isfinite(l->tint[1]);
}

static vit_status check_file(const char *path, vit_error *error) {
    vit_tensors *file = NULL;
    bool exists = false;
    vit_status status = vit_path_exists(&exists, path, error);
    if (status != VIT_OK || !exists) return status;
    const bool ours =
        vit_tensors_open(&file, path, NULL) == VIT_OK && vit_tensors_metadata(file, KEY);
    vit_tensors_close(file);
    if (ours) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s is no file of lessons, it is not replaced: name another file", path);
}

/* Precision in which the features are computed. */
static const char *precision_name(const vit_few_shot *t) {
    return vit_precision_names[t->precision];
}

static char *write_description(const vit_few_shot *t, const char *backbone) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "version", 1);
    vit_json_text(&json, "head", t->solver->name);
    vit_json_bool(&json, "balance", t->balance);
    vit_json_text(&json, "precision", precision_name(t));
    vit_json_text(&json, "data", t->data);
    vit_json_text(&json, "backbone", backbone);
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

static vit_tensor tensor_of(const char *name, vit_dtype dtype, const void *data, size_t rows,
                            size_t columns) {
    vit_tensor tensor = {
        .name = name, .dtype = dtype, .dims = 1, .count = rows * columns, .data = data};
    tensor.shape[0] = rows;
    if (columns > 1) tensor.shape[tensor.dims++] = columns;
    return tensor;
}

static vit_status write_lessons(const vit_few_shot *t, const char *path, uint8_t *digests,
                                uint8_t *alike, int32_t *labels, const char *description,
                                vit_error *error) {
    vit_string classes = {0}, names = {0};
    char hex[65];
    const size_t n = t->count, size = likeness_size();
    for (size_t i = 0; i < n; i++) {
        memcpy(digests + 32 * i, t->pictures[i].digest, 32);
        write_likeness(alike + size * i, t->pictures[i].likeness);
        labels[i] = (int32_t)t->labels[i];
        vit_string_add(&names, "%s\n", vit_taught_name(&t->pictures[i]));
    }
    for (size_t k = 0; k < t->class_count; k++) vit_string_add(&classes, "%s\n", t->classes[k]);
    const vit_tensor tensors[] = {
        tensor_of("features", VIT_F32, t->features, n, t->width),
        tensor_of("labels", VIT_I32, labels, n, 1),
        tensor_of("sha256", VIT_U8, digests, n, 32),
        tensor_of("likeness", VIT_U8, alike, n, size),
        tensor_of("names", VIT_U8, names.text, names.length, 1),
        tensor_of("classes", VIT_U8, classes.text, classes.length, 1),
    };
    vit_metadata metadata[] = {{KEY, description}, {VIT_CHECKSUM_KEY, vit_checksum_zeros}};
    vit_status status =
        names.failed || classes.failed ? vit_fail_memory(error, "lessons", n) : VIT_OK;
    if (status == VIT_OK)
        status = vit_safetensors_hash(hex, tensors, VIT_COUNT(tensors), metadata, 2, error);
    metadata[1].value = hex;
    if (status == VIT_OK)
        status = vit_safetensors_write(path, tensors, VIT_COUNT(tensors), metadata, 2, error);
    vit_string_free(&names);
    vit_string_free(&classes);
    return status;
}

static vit_status check_keeps(const vit_few_shot *t, vit_error *error) {
    if (t->keep_lessons) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "the teaching was begun without keep_lessons, its lessons are not kept");
}

/* Names stand on a line each. */
static vit_status check_names(const vit_few_shot *t, vit_error *error) {
    for (size_t i = 0; i < t->count; i++)
        if (strchr(vit_taught_name(&t->pictures[i]), '\n') || !*vit_taught_name(&t->pictures[i]))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "picture %zu of class %s has no name or one of several lines: lessons "
                            "need names",
                            i, t->classes[t->labels[i]]);
    for (size_t k = 0; k < t->class_count; k++)
        if (strchr(t->classes[k], '\n'))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED, "class %zu has a name of several lines",
                            k);
    return VIT_OK;
}

vit_status vit_few_shot_save_lessons(vit_few_shot *t, const char *path, vit_error *error) {
    VIT_ENTRY;
    char backbone[65];
    char *description = NULL;
    vit_status status = check_keeps(t, error);
    if (status == VIT_OK && t->count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "there are no lessons");
    if (status == VIT_OK) status = vit_few_shot_sort(t, error);
    if (status == VIT_OK) status = check_names(t, error);
    if (status == VIT_OK) status = check_file(path, error);
    if (status == VIT_OK) status = vit_few_shot_hash_backbone(backbone, t, error);
    if (status != VIT_OK) return status;
    uint8_t *digests = vit_alloc(t->count, 32), *alike = vit_alloc(t->count, likeness_size());
    int32_t *labels = vit_alloc(t->count, sizeof *labels);
    description = write_description(t, backbone);
    if (!digests || !alike || !labels || !description)
        status = vit_fail_memory(error, "lessons", t->count * likeness_size());
    else
        status = write_lessons(t, path, digests, alike, labels, description, error);
    vit_free(digests);
    vit_free(alike);
    vit_free(labels);
    vit_free(description);
    return status;
}

/* ---- reading ---- */

static vit_status refuse(const char *path, const char *what, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", path, what);
}

/* Head, balance and data as the lessons were taught; MISMATCH for another network. */
static vit_status read_description(vit_few_shot *t, const char *text, const char *path,
                                   vit_error *error) {
    char backbone[65];
    json_t *json = NULL;
    vit_status status = vit_json_parse(&json, text, strlen(text), path, error);
    if (status != VIT_OK) return status;
    const char *head = json_string_value(json_object_get(json, "head"));
    const char *data = json_string_value(json_object_get(json, "data"));
    const char *precision = json_string_value(json_object_get(json, "precision"));
    const char *network = json_string_value(json_object_get(json, "backbone"));
    const json_t *balance = json_object_get(json, "balance");
    if (json_integer_value(json_object_get(json, "version")) != 1)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: lessons of another version", path);
    else if (!head || !data || !precision || !network || !json_is_boolean(balance) ||
             strlen(data) >= sizeof t->data)
        status = refuse(path, "its description is not complete", error);
    if (status == VIT_OK) status = vit_few_shot_choose_head(t, head, error);
    if (status == VIT_OK) status = vit_few_shot_hash_backbone(backbone, t, error);
    if (status == VIT_OK &&
        (strcmp(network, backbone) != 0 || strcmp(precision, precision_name(t)) != 0))
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: these are lessons of another network, or in another precision (%s): "
                          "name the model that was taught (--init)",
                          path, precision);
    if (status == VIT_OK) {
        t->balance = json_is_true(balance);
        memcpy(t->data, data, strlen(data) + 1);
    }
    json_decref(json);
    return status;
}

/* *out = the lines of a tensor, in one block; FORMAT unless there are `count` that are not empty,
 * or, for count 0, at least one. */
static vit_status read_lines(char ***out, size_t *count, const vit_tensor *tensor, const char *path,
                             vit_error *error) {
    const char *text = tensor->data;
    size_t lines = 0;
    for (size_t i = 0; i < tensor->count; i++) {
        if (!text[i] || (text[i] == '\n' && (i == 0 || text[i - 1] == '\n')))
            return refuse(path, "a name is empty or holds a 0", error);
        lines += text[i] == '\n';
    }
    if (lines == 0 || text[tensor->count - 1] != '\n' || (*count > 0 && lines != *count))
        return refuse(path, "it has not as many names as pictures", error);
    *out = vit_alloc(1, lines * sizeof **out + tensor->count);
    if (!*out) return vit_fail_memory(error, "names", tensor->count);
    char *copy = (char *)(*out + lines);
    memcpy(copy, text, tensor->count);
    for (size_t i = 0; i < lines; i++) {
        (*out)[i] = copy;
        copy = strchr(copy, '\n');
        *copy++ = 0;
    }
    *count = lines;
    return VIT_OK;
}

typedef struct lessons {
    const vit_tensor *features, *labels, *digests, *alike, *names, *classes;
    char **name, **class_name;
    size_t count, class_count;
} lessons;

static bool has_shape(const vit_tensor *x, vit_dtype dtype, size_t rows, size_t columns) {
    return x && x->data && x->dtype == dtype && x->dims == (columns > 1 ? 2u : 1u) &&
           x->shape[0] == rows && (columns == 1 || x->shape[1] == columns);
}

static vit_status find_tensors(lessons *l, const vit_tensors *file, size_t width, const char *path,
                               vit_error *error) {
    l->features = vit_tensors_find(file, "features");
    l->labels = vit_tensors_find(file, "labels");
    l->digests = vit_tensors_find(file, "sha256");
    l->alike = vit_tensors_find(file, "likeness");
    l->names = vit_tensors_find(file, "names");
    l->classes = vit_tensors_find(file, "classes");
    const size_t n = l->count = l->labels ? l->labels->count : 0;
    if (n == 0 || !has_shape(l->features, VIT_F32, n, width) ||
        !has_shape(l->labels, VIT_I32, n, 1) || !has_shape(l->digests, VIT_U8, n, 32) ||
        !has_shape(l->alike, VIT_U8, n, likeness_size()) || !l->names || !l->classes ||
        !has_shape(l->names, VIT_U8, l->names->count, 1) ||
        !has_shape(l->classes, VIT_U8, l->classes->count, 1))
        return refuse(path, "a tensor is missing or of another shape", error);
    const vit_status status = read_lines(&l->name, &l->count, l->names, path, error);
    return status == VIT_OK ? read_lines(&l->class_name, &l->class_count, l->classes, path, error)
                            : status;
}

static vit_status read_picture(vit_few_shot *t, const lessons *l, size_t i, const char *path,
                               vit_error *error) {
    vit_taught_picture p = {.has_digest = true, .is_kept = true};
    const size_t size = likeness_size();
    int32_t label;
    memcpy(&label, (const char *)l->labels->data + i * sizeof label, sizeof label);
    if (label < 0 || (size_t)label >= l->class_count)
        return refuse(path, "a picture is of a class that it does not have", error);
    vit_status status = vit_few_shot_label(t, &t->labels[t->count], l->class_name[label], error);
    if (status != VIT_OK) return status;
    float *features = t->features + t->count * t->width;
    memcpy(features, (const float *)l->features->data + i * t->width, t->width * sizeof *features);
    for (size_t k = 0; k < t->width; k++)
        if (!isfinite(features[k])) return refuse(path, "a feature is not a finite number", error);
    memcpy(p.digest, (const uint8_t *)l->digests->data + 32 * i, 32);
    p.name = vit_strdup(l->name[i]);
    p.likeness = vit_alloc(1, sizeof *p.likeness);
    if (!p.name || !p.likeness)
        status = vit_fail_memory(error, "a lesson", size);
    else if (!read_likeness(p.likeness, (const uint8_t *)l->alike->data + i * size))
        status = refuse(path, "a likeness is none", error);
    if (status == VIT_OK) {
        t->pictures[t->count++] = p;
    } else {
        vit_free(p.name);
        vit_free(p.likeness);
    }
    return status;
}

static vit_status read_file(vit_few_shot *t, const vit_bytes *bytes, const char *path,
                            vit_error *error) {
    vit_tensors *file = NULL;
    lessons l = {0};
    vit_status status = vit_tensors_parse(&file, bytes->data, bytes->size, path, error);
    const char *description = status == VIT_OK ? vit_tensors_metadata(file, KEY) : NULL;
    if (status == VIT_OK && !description)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s is no file of lessons, as vit-train --lessons writes it", path);
    if (status == VIT_OK) status = vit_checksum_verify(bytes->data, bytes->size, path, error);
    if (status == VIT_OK) status = read_description(t, description, path, error);
    if (status == VIT_OK) status = find_tensors(&l, file, t->width, path, error);
    if (status == VIT_OK) status = vit_few_shot_reserve(t, l.count, error);
    for (size_t i = 0; i < l.count && status == VIT_OK; i++)
        status = read_picture(t, &l, i, path, error);
    vit_free(l.name);
    vit_free(l.class_name);
    vit_tensors_close(file);
    return status;
}

vit_status vit_few_shot_load_lessons(vit_few_shot *t, const char *path, vit_error *error) {
    VIT_ENTRY;
    vit_bytes bytes = {0};
    vit_status status = check_keeps(t, error);
    if (status == VIT_OK && (t->count > 0 || t->class_count > 0))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "lessons are loaded before there are pictures: begin another teaching");
    if (status == VIT_OK) status = vit_read_regular(&bytes, path, FILE_LIMIT, error);
    if (status != VIT_OK) return status;
    status = read_file(t, &bytes, path, error);
    if (status != VIT_OK) vit_few_shot_clear(t);
    vit_few_shot_changed(t);
    vit_free(bytes.data);
    return status;
}
