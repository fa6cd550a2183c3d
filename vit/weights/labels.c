#include "vit/weights/labels.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_FILE ((size_t)16 << 20) /* names of 20,000 classes are about a megabyte */

/* Labels in one block, as in vit_model_file. */
typedef struct names {
    char **labels;
    size_t count;
} names;

json_t *vit_labels_list(const json_t *object) {
    const size_t count = json_object_size(object);
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        json_t *label = json_object_get(object, key);
        const size_t entries = json_array_size(label);
        if (entries > 0) label = json_array_get(label, entries - 1);
        if (!json_is_string(label) || json_array_append(list, label) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* ---- JSON ---- */

static vit_status read_object(names *out, const json_t *object, const char *path,
                              vit_error *error) {
    static const char *const keys[] = {"id2label", "label_names", "labels"};
    const json_t *found = object;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(object, keys[i]);
        if (value && found == object) found = value;
    }
    json_t *list = json_is_object(found) ? vit_labels_list(found) : NULL;
    if (json_is_object(found) && !list)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected names of classes: one a line, or JSON, [\"cat\", ...] or "
                        "{\"0\": \"cat\", ...} without a gap",
                        path);
    const vit_status status =
        vit_json_strings(&out->labels, &out->count, list ? list : found, path, error);
    json_decref(list);
    return status;
}

static vit_status read_json(names *out, const char *text, size_t size, const char *path,
                            vit_error *error) {
    json_error_t reason;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &reason);
    if (!value)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %d, column %d: %s", path, reason.line,
                        reason.column, reason.text);
    const vit_status status = read_object(out, value, path, error);
    json_decref(value);
    return status;
}

/* ---- lines ---- */

/* Whether it is a name: UTF-8 without control characters, not empty. */
static bool is_name(const char *text) {
    bool fine = *text != '\0';
    while (*text != '\0' && fine) {
        const size_t length = vit_utf8_length(text);
        fine = length > 0 && !iscntrl((unsigned char)*text);
        text += length;
    }
    return fine;
}

/* One name a line. text: [size + 1], ended by a zero. */
static vit_status read_lines(names *out, char *text, size_t size, const char *path,
                             vit_error *error) {
    size_t lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n' || i + 1 == size;
    const size_t table = (lines > 0 ? lines : 1) * sizeof(char *);
    if (strlen(text) != size)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s holds a zero byte, expected names of classes",
                        path);
    out->labels = vit_alloc(1, table + size + 1);
    if (!out->labels) return vit_fail_memory(error, path, table + size + 1);
    char *at = memcpy((char *)out->labels + table, text, size + 1);
    for (out->count = 0; out->count < lines; out->count++) {
        size_t length = strcspn(at, "\n");
        out->labels[out->count] = at;
        const bool ends = at[length] == '\0';
        at[length] = '\0';
        if (length > 0 && at[length - 1] == '\r') at[length - 1] = '\0';
        if (!is_name(at))
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: line %zu is empty or no UTF-8 text, expected the name of class "
                            "%zu",
                            path, out->count + 1, out->count);
        at += length + !ends;
    }
    return VIT_OK;
}

static vit_status read_file(names *out, const char *path, vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, path, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    vit_text text = {0};
    const char *start = (const char *)bytes.data;
    const size_t mark = bytes.size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    vit_text_add(&text, "%s", "");
    vit_text_add_bytes(&text, start + mark, bytes.size - mark);
    vit_free(bytes.data);
    if (text.failed) return vit_fail_memory(error, path, bytes.size);
    const char first = text.text[strspn(text.text, " \t\r\n")];
    status = first == '[' || first == '{' ? read_json(out, text.text, text.length, path, error)
                                          : read_lines(out, text.text, text.length, path, error);
    vit_text_free(&text);
    return status;
}

vit_status vit_labels_read(char ***labels, size_t *count, const char *path, vit_error *error) {
    names n = {0};
    const vit_status status = read_file(&n, path, error);
    if (status != VIT_OK) vit_free(n.labels);
    *labels = status == VIT_OK ? n.labels : NULL;
    *count = status == VIT_OK ? n.count : 0;
    return status;
}

/* ---- into a model ---- */

/* Moves the names into the model. */
static vit_status take(vit_model_file *m, names *n, const char *name, vit_error *error) {
    if (n->count != m->config.classes)
        return vit_fail(error, VIT_ERROR_MISMATCH, "%s has %zu name%s, the model %zu classes", name,
                        n->count, n->count == 1 ? "" : "s", m->config.classes);
    vit_free(m->labels);
    m->labels = n->labels;
    n->labels = NULL;
    return VIT_OK;
}

vit_status vit_labels_set_imagenet(vit_model_file *m, vit_error *error) {
    vit_text text = {0};
    names n = {0};
    for (size_t i = 0; vit_imagenet_labels[i]; i++)
        vit_text_add(&text, "%s", vit_imagenet_labels[i]);
    vit_status status = text.failed ? vit_fail_memory(error, "ImageNet's names", text.length)
                                    : read_lines(&n, text.text, text.length, "imagenet-1k", error);
    if (status == VIT_OK) status = take(m, &n, "imagenet-1k", error);
    vit_text_free(&text);
    vit_free(n.labels);
    return status;
}

vit_status vit_labels_set(vit_model_file *m, const char *labels, vit_error *error) {
    names n = {0};
    if (m->config.head == VIT_HEAD_NONE)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s: the model is a backbone without a head, which has no classes to name",
                        labels);
    if (strcmp(labels, "imagenet-1k") == 0) return vit_labels_set_imagenet(m, error);
    vit_status status = read_file(&n, labels, error);
    if (status == VIT_ERROR_IO) vit_fail_prefix(error, status, "labels (--labels)");
    if (status == VIT_OK) status = take(m, &n, labels, error);
    vit_free(n.labels);
    return status;
}
