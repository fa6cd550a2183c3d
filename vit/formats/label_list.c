#include "vit/formats/label_list.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_FILE ((size_t)16 << 20) /* names of 20,000 classes are about a megabyte */

json_t *vit_label_list_of_object(const json_t *object) {
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

static vit_status read_object(vit_label_list *out, const json_t *object, const char *path,
                              vit_error *error) {
    static const char *const keys[] = {"id2label", "label_names", "labels"};
    const json_t *found = object;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(object, keys[i]);
        if (value && found == object) found = value;
    }
    json_t *list = json_is_object(found) ? vit_label_list_of_object(found) : NULL;
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

static vit_status read_json(vit_label_list *out, const char *text, size_t size, const char *path,
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
vit_status vit_label_list_lines(vit_label_list *out, char *text, size_t size, const char *path,
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

static vit_status read_file(vit_label_list *out, const char *path, vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, path, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    const size_t mark = vit_utf8_mark(bytes.data, bytes.size), size = bytes.size - mark;
    char *text = (char *)bytes.data + mark;
    const char first = text[strspn(text, " \t\r\n")];
    status = first == '[' || first == '{' ? read_json(out, text, size, path, error)
                                          : vit_label_list_lines(out, text, size, path, error);
    vit_free(bytes.data);
    return status;
}

vit_status vit_label_list_read(vit_label_list *out, const char *path, vit_error *error) {
    *out = (vit_label_list){0};
    const vit_status status = read_file(out, path, error);
    if (status == VIT_OK) return status;
    vit_free(out->labels);
    *out = (vit_label_list){0};
    return status;
}
