#include "vit/cli/serve/answer/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char media_type[] = "multipart/form-data";
enum { LINE_MAX_LENGTH = 1024, LINES_MAX = 16 };

bool serve_is_multipart(const char *content_type) {
    const size_t length = strlen(media_type);
    return content_type && strncasecmp(content_type, media_type, length) == 0 &&
           strchr(" \t;", content_type[length]); /* or its end, which strchr finds as well */
}

/* ---- parameters of a field: "; name=value" or "; name=\"value\"" ---- */

/* out: the value at `at`, without its quotes; returns its end, or NULL if it is malformed or too
 * long. A quote within quotes is %22 from browsers, and follows a backslash from others. */
static const char *read_value(const char *at, char *out, size_t size) {
    size_t length = 0;
    const bool quoted = *at == '"';
    at += quoted;
    while (*at != '\0' && (quoted ? *at != '"' : !strchr("; \t", *at))) {
        if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\')) at++;
        if (length + 1 >= size) return NULL;
        out[length++] = *at++;
    }
    out[length] = '\0';
    if (quoted && *at++ != '"') return NULL;
    return at;
}

/* out: the value of a parameter; false: there is none, or the field is malformed. */
static bool find_parameter(const char *field, const char *name, char *out, size_t size) {
    char value[512];
    bool found = false;
    out[0] = '\0';
    field += strcspn(field, ";");
    while (*field == ';') {
        field += 1 + strspn(field + 1, " \t");
        const char *word = field;
        const size_t length = strcspn(field, "=;");
        if (field[length] != '=') return false;
        field = read_value(field + length + 1, value, sizeof value);
        if (!field) return false;
        field += strspn(field, " \t");
        if (length == strlen(name) && strncasecmp(word, name, length) == 0) {
            if (found || strlen(value) >= size) return false;
            memcpy(out, value, strlen(value) + 1);
            found = true;
        }
    }
    return found && *field == '\0';
}

/* ---- parts ---- */

static bool begins(const serve_multipart *m, const char *text, size_t length) {
    return m->left >= length && memcmp(m->data, text, length) == 0;
}

static void skip(serve_multipart *m, size_t length) {
    m->data += length;
    m->left -= length;
}

/* The first place of the text in the data, or NULL. */
static const uint8_t *find(const uint8_t *data, size_t size, const char *text, size_t length) {
    while (size >= length) {
        const uint8_t *at = memchr(data, text[0], size - length + 1);
        if (!at) return NULL;
        if (memcmp(at, text, length) == 0) return at;
        size -= (size_t)(at + 1 - data);
        data = at + 1;
    }
    return NULL;
}

vit_status serve_multipart_open(serve_multipart *m, const char *content_type, const void *body,
                                size_t size, vit_error *error) {
    char boundary[SERVE_BOUNDARY_MAX + 1];
    *m = (serve_multipart){.data = body, .left = size};
    if (!content_type || !find_parameter(content_type, "boundary", boundary, sizeof boundary) ||
        boundary[0] == '\0')
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "Content-Type: %s without a boundary of 1 to %d characters", media_type,
                        SERVE_BOUNDARY_MAX);
    m->delimiter_length = (size_t)snprintf(m->delimiter, sizeof m->delimiter, "\r\n--%s", boundary);
    /* The first delimiter begins the body, without the line end before it. */
    if (!begins(m, m->delimiter + 2, m->delimiter_length - 2))
        return vit_fail(error, VIT_ERROR_FORMAT, "the body does not begin with its boundary");
    skip(m, m->delimiter_length - 2);
    return VIT_OK;
}

/* line: the next line of a part's header, without its end. */
static vit_status read_line(serve_multipart *m, char *line, vit_error *error) {
    const uint8_t *end = find(m->data, m->left, "\r\n", 2);
    const size_t length = !end ? m->left : (size_t)(end - m->data);
    if (!end || length >= LINE_MAX_LENGTH)
        return vit_fail(error, VIT_ERROR_FORMAT, "the header of a part does not end in time");
    memcpy(line, m->data, length);
    line[length] = '\0';
    skip(m, length + 2);
    if (strlen(line) != length)
        return vit_fail(error, VIT_ERROR_FORMAT, "the header of a part has a zero byte");
    return VIT_OK;
}

/* type: that of a Content-Type, if the line is one. */
static void read_type(char *type, size_t size, const char *line) {
    static const char field[] = "Content-Type:";
    if (strncasecmp(line, field, strlen(field)) != 0) return;
    line += strlen(field) + strspn(line + strlen(field), " \t");
    snprintf(type, size, "%.*s", (int)strcspn(line, "; \t"), line);
}

static vit_status read_header(serve_multipart *m, serve_part *part, vit_error *error) {
    static const char field[] = "Content-Disposition:";
    char line[LINE_MAX_LENGTH];
    bool is_named = false;
    for (int i = 0; i < LINES_MAX; i++) {
        const vit_status status = read_line(m, line, error);
        if (status != VIT_OK) return status;
        if (line[0] == '\0' && is_named) return VIT_OK;
        if (line[0] == '\0') break;
        read_type(part->type, sizeof part->type, line);
        if (strncasecmp(line, field, strlen(field)) != 0) continue;
        const char *value = line + strlen(field);
        value += strspn(value, " \t");
        is_named = strncasecmp(value, "form-data", 9) == 0 &&
                   find_parameter(value, "name", part->name, sizeof part->name);
        if (is_named && !find_parameter(value, "filename", part->file, sizeof part->file))
            part->file[0] = '\0';
    }
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "a part has no Content-Disposition: form-data with a name");
}

vit_status serve_multipart_next(serve_multipart *m, serve_part *part, bool *found,
                                vit_error *error) {
    *part = (serve_part){0};
    *found = false;
    if (begins(m, "--", 2)) return VIT_OK;
    while (begins(m, " ", 1) || begins(m, "\t", 1)) skip(m, 1);
    if (!begins(m, "\r\n", 2))
        return vit_fail(error, VIT_ERROR_FORMAT, "a boundary is not followed by a line end");
    skip(m, 2);
    const vit_status status = read_header(m, part, error);
    if (status != VIT_OK) return status;
    const uint8_t *end = find(m->data, m->left, m->delimiter, m->delimiter_length);
    if (!end) return vit_fail(error, VIT_ERROR_FORMAT, "the body ends within a part");
    part->data = m->data;
    part->size = (size_t)(end - m->data);
    skip(m, part->size + m->delimiter_length);
    *found = true;
    return VIT_OK;
}
