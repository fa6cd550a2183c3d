#include "vit/formats/label_list.h"
#include "vit/base/order.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Why it is no name: UTF-8 without control characters, not empty; NULL: it is one. */
static const char *why_no_name(const char *text) {
    if (*text == '\0') return "is empty";
    const char *other = vit_utf8_other_name(text);
    if (other) return other;
    if (strchr(text, '\t')) return "has a tab";
    for (; *text; text++)
        if (iscntrl((unsigned char)*text)) return "has a control character";
    return NULL;
}

bool vit_is_class_name(const char *text) {
    return !why_no_name(text);
}

/* The size of the text without empty lines at its end. */
static size_t without_blanks(const char *text, size_t size) {
    while (size > 0 && strchr(" \t\r\n", text[size - 1])) size--;
    return size;
}

/* One name a line. text: [size + 1], ended by a zero. */
static vit_status cut_lines(vit_label_list *out, char *text, size_t size, const char *path,
                            vit_error *error) {
    const char *other = vit_utf8_other(text, size);
    if (other) return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", path, other);
    size = without_blanks(text, size);
    text[size] = '\0';
    size_t lines = size > 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    const size_t table = (lines > 0 ? lines : 1) * sizeof(char *);
    out->labels = vit_alloc(1, table + size + 1);
    if (!out->labels) return vit_fail_memory(error, path, table + size + 1);
    char *at = memcpy((char *)out->labels + table, text, size + 1);
    for (out->count = 0; out->count < lines; out->count++) {
        size_t length = strcspn(at, "\n");
        out->labels[out->count] = at;
        const bool ends = at[length] == '\0';
        at[length] = '\0';
        if (length > 0 && at[length - 1] == '\r') at[length - 1] = '\0';
        at += length + !ends;
    }
    return VIT_OK;
}

static vit_status check_names(const vit_label_list *n, const char *path, vit_error *error) {
    for (size_t i = 0; i < n->count; i++) {
        const char *why = why_no_name(n->labels[i]);
        if (why)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: line %zu %s, expected the name of class %zu", path, i + 1, why, i);
    }
    return VIT_OK;
}

vit_status vit_label_list_lines(vit_label_list *out, char *text, size_t size, const char *path,
                                vit_error *error) {
    const vit_status status = cut_lines(out, text, size, path, error);
    return status == VIT_OK ? check_names(out, path, error) : status;
}

/* Takes away the space around names. */
static void trim_names(vit_label_list *n) {
    for (size_t i = 0; i < n->count; i++) {
        char *name = n->labels[i] + strspn(n->labels[i], " ");
        size_t length = strlen(name);
        while (length > 0 && name[length - 1] == ' ') length--;
        name[length] = '\0';
        n->labels[i] = name;
    }
}

/* ---- numbers before names ---- */

/* The name behind a number, "0 cat", "0: cat", "0,cat", "0. cat"; NULL: there is no number, or
 * nothing behind it. */
static char *behind_number(char *line, uint64_t *number) {
    char digits[20];
    const size_t length = strspn(line, "0123456789");
    const bool is_item = length > 0 && strchr(".)", line[length]) && line[length + 1] == ' ';
    const size_t space = is_item ? 2 : strspn(line + length, " \t,:;");
    if (length == 0 || length >= sizeof digits || space == 0 || line[length + space] == '\0')
        return NULL;
    memcpy(digits, line, length);
    digits[length] = '\0';
    return vit_parse_u64(digits, number) ? line + length + space : NULL;
}

/* Whether a name is there twice: then numbers before names belong to them, "1 cent", "2 cent". */
static bool has_twice(char **names, size_t count) {
    bool twice = false;
    qsort(names, count, sizeof *names, vit_compare_texts);
    for (size_t i = 1; i < count; i++) twice = twice || strcmp(names[i - 1], names[i]) == 0;
    return twice;
}

/* Orders the names by numbers before all of them, which are taken away. */
static vit_status order_by_numbers(vit_label_list *n, const char *path, vit_error *error) {
    char **ordered = vit_alloc(n->count, 2 * sizeof *ordered);
    uint64_t number, first = 1;
    if (!ordered) return vit_fail_memory(error, path, n->count * 2 * sizeof *ordered);
    char **names = ordered + n->count;
    bool are_numbered = n->count > 1, are_complete = true;
    for (size_t i = 0; i < n->count && are_numbered; i++) {
        are_numbered = (names[i] = behind_number(n->labels[i], &number));
        if (are_numbered && number == 0) first = 0;
    }
    are_numbered = are_numbered && !has_twice(names, n->count);
    for (size_t i = 0; i < n->count && are_numbered && are_complete; i++) {
        char *name = behind_number(n->labels[i], &number);
        are_complete = number >= first && number - first < n->count && !ordered[number - first];
        if (are_complete) ordered[number - first] = name;
    }
    vit_status status = VIT_OK;
    if (are_numbered && are_complete)
        memcpy(n->labels, ordered, n->count * sizeof *ordered);
    else if (are_numbered)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: numbers stand before its %zu names, and they are not 0 to %zu or 1 "
                          "to %zu: take them away, or write [\"...\", ...] if they belong to the "
                          "names",
                          path, n->count, n->count - 1, n->count);
    vit_free(ordered);
    return status;
}

/* ---- lists with signs of their own ---- */

static bool is_item(const char *line) {
    return *line && strchr("-*+", *line) && line[1] == ' ';
}

static bool is_quoted(const char *line) {
    const size_t length = strlen(line), end = length - (length > 0 && line[length - 1] == ',');
    return end > 1 && strchr("\"'`", *line) && line[end - 1] == *line;
}

static bool has_synset(const char *line) {
    return *line == 'n' && strspn(line + 1, "0123456789") == 8 && strchr(" \t", line[9]) && line[9];
}

static bool is_row(const char *line) {
    const char *comma = strpbrk(line, ",;");
    return comma && comma > line && comma[1] && comma[1] != ' ' && comma[1] != '_';
}

/* The place of the number behind a name; 0: there is none. */
static size_t number_at(const char *line) {
    size_t end = strlen(line);
    while (end > 0 && line[end - 1] >= '0' && line[end - 1] <= '9') end--;
    return line[end] && end > 1 && strchr(" \t,:;=", line[end - 1]) ? end : 0;
}

/* Whether the lines are counted behind their names, which differ without that: "cat 0", "dog 1". */
static bool are_counted(const vit_label_list *n) {
    uint64_t first = 0, number;
    for (size_t i = 0; i < n->count; i++) {
        const char *line = n->labels[i];
        const size_t at = number_at(line);
        if (at == 0 || !vit_parse_u64(line + at, &number)) return false;
        if (i == 0) first = number;
        if (first > 1 || number != first + i) return false;
        if (i > 0 && strncmp(n->labels[i - 1], line, at) == 0) return false;
    }
    return n->count > 1;
}

/* Why lines are not names alone; NULL: they are. */
static const char *why_marked(const vit_label_list *n) {
    static const struct {
        bool (*has)(const char *line);
        const char *why;
    } marks[] = {{is_item, "signs of a list stand before"},
                 {is_quoted, "quotes stand around"},
                 {has_synset, "WordNet's numbers stand before"},
                 {is_row, "each line is a row of a table, in place of"}};
    if (n->labels[0][0] == '#') return "a comment stands before";
    if (n->labels[0][strlen(n->labels[0]) - 1] == ':') return "a key stands before";
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        size_t count = 0;
        for (size_t i = 0; i < n->count; i++) count += marks[k].has(n->labels[i]);
        if (count == n->count) return marks[k].why;
    }
    return are_counted(n) ? "numbers stand behind" : NULL;
}

/* Names between commas in one line would be one name. */
static vit_status check_marks(const vit_label_list *n, const char *path, vit_error *error) {
    if (n->count == 0) return VIT_OK;
    const char *why = why_marked(n);
    if (n->count == 1 && strpbrk(n->labels[0], ",;"))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: has one line, \"%.80s\": expected one name a line; write [\"...\"] if "
                        "it is one name",
                        path, n->labels[0]);
    if (!why) return VIT_OK;
    return vit_fail(
        error, VIT_ERROR_FORMAT,
        "%s: line 1 is \"%.80s\": %s the %zu names: expected a name alone in each line; "
        "write [\"...\", ...] if these are the names",
        path, n->labels[0], why, n->count);
}

/* ---- a file ---- */

typedef vit_status read_function(vit_bytes *out, const char *path, size_t limit, vit_error *error);

static vit_status read_file(vit_label_list *out, bool are_names, read_function *load,
                            const char *path, vit_error *error) {
    vit_bytes bytes;
    vit_status status = load(&bytes, path, LARGEST_FILE, error);
    if (status != VIT_OK) return status;
    const size_t mark = vit_utf8_mark(bytes.data, bytes.size), size = bytes.size - mark;
    char *text = (char *)bytes.data + mark;
    const char first = text[strspn(text, " \t\r\n")];
    const bool is_json = first == '[' || first == '{';
    status =
        is_json ? read_json(out, text, size, path, error) : cut_lines(out, text, size, path, error);
    if (status == VIT_OK && !is_json && are_names) trim_names(out);
    if (status == VIT_OK && !is_json && are_names) status = order_by_numbers(out, path, error);
    if (status == VIT_OK && !is_json) status = check_names(out, path, error);
    if (status == VIT_OK && !is_json && are_names) status = check_marks(out, path, error);
    vit_free(bytes.data);
    return status;
}

static vit_status read_all(vit_label_list *out, bool are_names, read_function *load,
                           const char *path, vit_error *error) {
    *out = (vit_label_list){0};
    const vit_status status = read_file(out, are_names, load, path, error);
    if (status == VIT_OK) return status;
    vit_free(out->labels);
    *out = (vit_label_list){0};
    return status;
}

vit_status vit_label_list_read(vit_label_list *out, const char *path, vit_error *error) {
    return read_all(out, true, vit_read_file, path, error);
}

vit_status vit_label_list_read_regular(vit_label_list *out, const char *path, vit_error *error) {
    return read_all(out, true, vit_read_regular, path, error);
}

vit_status vit_label_list_read_texts(vit_label_list *out, const char *path, vit_error *error) {
    return read_all(out, false, vit_read_file, path, error);
}
