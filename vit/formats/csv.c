#include "vit/formats/csv.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"

#include <string.h>
#include <strings.h>

static char separator_of(const char *text) {
    static const char separators[] = ",;\t";
    const size_t length = strcspn(text, "\r\n");
    size_t most = 0;
    char best = ',';
    for (const char *s = separators; *s; s++) {
        size_t count = 0;
        for (size_t i = 0; i < length; i++) count += text[i] == *s;
        if (count <= most) continue;
        most = count;
        best = *s;
    }
    return best;
}

void vit_csv_start(vit_csv *csv, char *text, const char *name) {
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
    *csv = (vit_csv){.next = text, .next_line = 1, .separator = separator_of(text), .name = name};
    /* Excel's own line, which names the separator. */
    if (strncasecmp(text, "sep=", 4) != 0 || !text[4] || !strchr(",;\t", text[4])) return;
    if (text[5] != '\r' && text[5] != '\n') return;
    csv->separator = text[4];
    csv->next = text + 5;
}

/* Moves a field in quotes to its beginning, without them; returns what follows it, or NULL. */
static char *unquote(vit_csv *csv, char *field) {
    char *to = field, *from = field + 1;
    for (;; from++) {
        if (*from == 0) return NULL;
        if (*from == '"' && from[1] != '"') break;
        if (*from == '"') from++;
        if (*from == '\n') csv->next_line++;
        *to++ = *from;
    }
    const char end[] = {csv->separator, '\r', '\n', 0};
    char *after = from + 1 + strcspn(from + 1, end); /* what follows the quotes is left out */
    *to = 0;
    return after;
}

static vit_status add_field(vit_csv *csv, char *field, vit_error *error) {
    if (!VIT_MAKE_ROOM(csv->fields, csv->count, csv->capacity, "a row of a table", error))
        return VIT_ERROR_MEMORY;
    csv->fields[csv->count++] = field;
    return VIT_OK;
}

static void skip_empty(vit_csv *csv) {
    for (; *csv->next == '\r' || *csv->next == '\n'; csv->next++)
        csv->next_line += *csv->next == '\n';
}

vit_status vit_csv_next(vit_csv *csv, bool *more, vit_error *error) {
    const char ends[] = {csv->separator, '\r', '\n', 0};
    skip_empty(csv);
    csv->count = 0;
    csv->line = csv->next_line;
    *more = *csv->next;
    for (bool goes_on = *more; goes_on;) {
        char *field = csv->next;
        char *end = *field == '"' ? unquote(csv, field) : field + strcspn(field, ends);
        if (!end)
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu: a quote does not end",
                            csv->name, csv->line);
        goes_on = *end == csv->separator;
        csv->next = end + (*end != 0);
        csv->next_line += *end == '\n';
        *end = 0;
        const vit_status status = add_field(csv, field, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

void vit_csv_clear(vit_csv *csv) {
    vit_free(csv->fields);
    *csv = (vit_csv){0};
}

void vit_csv_path(vit_string *text, const char *path) {
    const bool quotes = strpbrk(path, ",\"\r\n");
    vit_string_add(text, "%s", quotes ? "\"" : "");
    for (; *path; path++) {
        vit_string_add_bytes(text, path, 1);
        if (*path == '"') vit_string_add_bytes(text, "\"", 1);
    }
    vit_string_add(text, "%s", quotes ? "\"" : "");
}

void vit_csv_visible(vit_string *t, const char *text) {
    while (*text != '\0') {
        const unsigned char *c = (const unsigned char *)text;
        const bool control = c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
        const size_t length = vit_utf8_length(text);
        if (length == 0 || control)
            vit_string_add_bytes(t, "?", 1);
        else
            vit_string_add_bytes(t, text, length);
        text += length > 0 ? length : 1;
    }
}

void vit_csv_field(vit_string *text, const char *field) {
    vit_string visible = {0};
    vit_csv_visible(&visible, field);
    if (visible.text) vit_csv_path(text, visible.text);
    text->failed = text->failed || visible.failed;
    vit_string_free(&visible);
}

vit_status vit_csv_check(const char *file, const char *option, const char *head, vit_error *error) {
    vit_bytes bytes = {0};
    vit_writer *writer;
    vit_status status = VIT_OK;
    if (vit_path_look(file) == VIT_PATH_FILE) {
        status = vit_map_file(&bytes, file, error);
        const size_t length = strlen(head);
        if (status == VIT_OK && bytes.size > 0 &&
            (bytes.size < length || memcmp(bytes.data, head, length) != 0))
            status = vit_fail(error, VIT_ERROR_IO,
                              "--%s: %s exists and is no file of this kind, which begins with "
                              "\"%s\": it is not replaced",
                              option, file, head);
        vit_unmap_file(&bytes);
    }
    if (status != VIT_OK) return status;
    status = vit_writer_open(&writer, file, error);
    if (status == VIT_OK) vit_writer_abort(writer);
    return status;
}
