#include "vit/cli/photos/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "vit/base/place.h"
#include "vit/base/size.h"

#define LONGEST ((size_t)1 << 31) /* bytes of a journal that is read */

static const char *const ends[] = {
    [VIT_ENTRY_DONE] = "done", [VIT_ENTRY_FAILED] = "failed", [VIT_ENTRY_UNDONE] = "undone"};
VIT_CHECK_ROWS(ends, VIT_ENTRY_COUNT);

/* ---- a line ---- */

static void add_escaped(vit_string *line, const char *field) {
    for (const char *at = field; *at;) {
        const size_t plain = strcspn(at, "\\\t\n\r");
        vit_string_add_bytes(line, at, plain);
        at += plain;
        if (!*at) return;
        const char letter = *at == '\\' ? '\\' : *at == '\t' ? 't' : *at == '\n' ? 'n' : 'r';
        vit_string_add(line, "\\%c", letter);
        at++;
    }
}

/* In place; false: something else is behind a backslash. */
static bool unescape(char *field) {
    char *to = field;
    for (const char *at = field; *at; at++) {
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        at++;
        if (*at != '\\' && *at != 't' && *at != 'n' && *at != 'r') return false;
        *to++ = *at == '\\' ? '\\' : *at == 't' ? '\t' : *at == 'n' ? '\n' : '\r';
    }
    *to = 0;
    return true;
}

static uint32_t checksum(const char *text, size_t length) {
    return (uint32_t)crc32_z(0, (const Bytef *)text, length);
}

/* The line's text behind its checksum; NULL if that is not right. `line` has no newline. */
static const char *check_line(const char *line, size_t length, size_t number) {
    char expected[16], counted[32];
    if (length < 10 || line[8] != ' ' || memchr(line, 0, length)) return NULL;
    snprintf(expected, sizeof expected, "%08x", (unsigned)checksum(line + 9, length - 9));
    const int digits = snprintf(counted, sizeof counted, "%zu ", number);
    if (memcmp(line, expected, 8) != 0 || length < 9 + (size_t)digits) return NULL;
    return memcmp(line + 9, counted, (size_t)digits) == 0 ? line + 9 + digits : NULL;
}

/* Splits the text of a line, [length], which is copied. False: it is no line of ours. */
static vit_status split(vit_journal_entry *entry, bool *fine, const char *text, size_t length,
                        vit_error *error) {
    size_t count = 1;
    for (size_t i = 0; i < length; i++) count += text[i] == '\t';
    char **fields = vit_alloc(1, count * sizeof *fields + length + 1);
    if (!fields) return vit_fail_memory(error, "a journal", length);
    char *at = memcpy(fields + count, text, length);
    *fine = true;
    for (size_t i = 0; i < count; i++) {
        char *end = strchr(at, '\t');
        if (end) *end = 0;
        fields[i] = at;
        at = end ? end + 1 : at;
        *fine = unescape(fields[i]) && *fine;
    }
    *entry = (vit_journal_entry){.fields = fields, .count = count};
    return VIT_OK;
}

/* An entry that ends another one changes its state. False: there is no such entry. */
static bool apply_end(vit_journal *j, const vit_journal_entry *entry) {
    for (size_t k = 1; k < sizeof ends / sizeof *ends; k++) {
        uint64_t number;
        if (strcmp(entry->fields[0], ends[k]) != 0) continue;
        if (entry->count != 2 || !vit_parse_u64(entry->fields[1], &number) || number >= j->count)
            return false;
        j->entries[number].state = (vit_entry_state)k;
    }
    return true;
}

static vit_status keep_entry(vit_journal *j, vit_journal_entry *entry, vit_error *error) {
    if (!VIT_MAKE_ROOM(j->entries, j->count, j->capacity, "a journal", error)) {
        vit_free(entry->fields);
        return VIT_ERROR_MEMORY;
    }
    j->entries[j->count++] = *entry;
    return VIT_OK;
}

/* ---- reading ---- */

static vit_status fail_damaged(const vit_journal *j, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu of the journal is damaged, its checksum is not that of its text: "
                    "nothing was changed",
                    j->path, j->count + 1);
}

/* Reads the lines; j->size becomes the bytes of those that are whole. */
static vit_status read_lines(vit_journal *j, const char *text, size_t size, vit_error *error) {
    vit_status status = VIT_OK;
    j->size = 0;
    while (j->size < size && status == VIT_OK) {
        const char *line = text + j->size, *end = memchr(line, '\n', size - j->size);
        const size_t length = end ? (size_t)(end - line) : size - j->size;
        const char *inner = end ? check_line(line, length, j->count) : NULL;
        vit_journal_entry entry = {0};
        bool fine = true;
        const bool is_torn = !end && !check_line(line, length - 1, j->count);
        if (is_torn && j->count > 0) return VIT_OK;
        if (!inner) return fail_damaged(j, error);
        status = split(&entry, &fine, inner, (size_t)(end - inner), error);
        if (status == VIT_OK && (!fine || !apply_end(j, &entry))) {
            vit_free(entry.fields);
            return fail_damaged(j, error);
        }
        if (status == VIT_OK) status = keep_entry(j, &entry, error);
        j->size += length + 1;
    }
    return status;
}

/* Whether the text begins as a journal does. */
static bool is_begin(const char *text, size_t size) {
    return size > 17 && text[8] == ' ' && memcmp(text + 9, "0 begin\t", 8) == 0;
}

void vit_journal_kind(char kind[16], const char *path) {
    vit_bytes bytes = {0};
    *kind = 0;
    if (vit_read_regular(&bytes, path, LONGEST, NULL) != VIT_OK) return;
    const char *text = (const char *)bytes.data;
    if (is_begin(text, bytes.size))
        snprintf(kind, 16, "%.*s", (int)strcspn(text + 17, "\t\n"), text + 17);
    vit_free(bytes.data);
}

static vit_status read_journal(vit_journal *j, const char *kind, vit_error *error) {
    vit_bytes bytes = {0};
    vit_status status = vit_read_regular(&bytes, j->path, LONGEST, error);
    if (status != VIT_OK) return status;
    const char *text = (const char *)bytes.data;
    if (bytes.size > 0 && !is_begin(text, bytes.size))
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: is no journal of vit-classify, and is not overwritten", j->path);
    if (status == VIT_OK) status = read_lines(j, text, bytes.size, error);
    vit_free(bytes.data);
    if (status != VIT_OK || j->count == 0) return status;
    const vit_journal_entry *begin = &j->entries[0];
    if (begin->count != 3 || strcmp(begin->fields[2], "1") != 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: is a journal of another version of vit-classify", j->path);
    if (strcmp(begin->fields[1], kind) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: is a journal of \"%s\", expected one of \"%s\"",
                    j->path, begin->fields[1], kind);
}

/* ---- writing ---- */

/* All of the line, at the end of the file, and to the disk if it announces something. */
static vit_status append(vit_journal *j, const char *line, size_t length, bool announces,
                         vit_error *error) {
    size_t written = 0;
    int number = lseek(j->file, (off_t)j->size, SEEK_SET) < 0 ? errno : 0;
    while (number == 0 && written < length) {
        const ssize_t n = write(j->file, line + written, length - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            number = n < 0 ? errno : ENOSPC;
        else
            written += (size_t)n;
    }
    if (number == 0 && announces && fsync(j->file) != 0) number = errno;
    if (number == 0) {
        j->size += length;
        return VIT_OK;
    }
    (void)!ftruncate(j->file, (off_t)j->size); /* or the next one takes the torn line off */
    return vit_fail_errno(error, number, "cannot write the journal %s", j->path);
}

static vit_status add(vit_journal *j, size_t *number, const char *const *fields, size_t count,
                      bool announces, vit_error *error) {
    vit_string text = {0}, line = {0};
    vit_journal_entry entry = {0};
    bool fine = true;
    char digits[32];
    const int before = snprintf(digits, sizeof digits, "%zu ", j->count);
    vit_string_add(&text, "%s", digits);
    for (size_t i = 0; i < count; i++) {
        vit_string_add(&text, "%s", i > 0 ? "\t" : "");
        add_escaped(&text, fields[i]);
    }
    if (!text.failed) vit_string_add(&line, "%08x ", (unsigned)checksum(text.text, text.length));
    if (!text.failed) vit_string_add_bytes(&line, text.text, text.length);
    vit_string_add(&line, "\n");
    vit_status status = VIT_OK;
    if (announces && j->count == 1) status = vit_sync_place(j->path, error);
    if (text.failed || line.failed) status = vit_fail_memory(error, "a journal", 256);
    if (status == VIT_OK) status = append(j, line.text, line.length, announces, error);
    if (status == VIT_OK)
        status = split(&entry, &fine, text.text + before, text.length - (size_t)before, error);
    if (status == VIT_OK && number) *number = j->count;
    if (status == VIT_OK) status = keep_entry(j, &entry, error);
    vit_string_free(&text);
    vit_string_free(&line);
    return status;
}

vit_status vit_journal_add(vit_journal *j, size_t *number, const char *const *fields, size_t count,
                           vit_error *error) {
    return add(j, number, fields, count, true, error);
}

/* If this is lost in a power failure, the entry is looked at again. */
vit_status vit_journal_end(vit_journal *j, size_t number, vit_entry_state state, vit_error *error) {
    char digits[32];
    snprintf(digits, sizeof digits, "%zu", number);
    const char *const fields[] = {ends[state], digits};
    const vit_status status = add(j, NULL, fields, 2, false, error);
    if (status == VIT_OK) j->entries[number].state = state;
    return status;
}

/* ---- opening and closing ---- */

vit_status vit_journal_open(vit_journal *j, const char *path, const char *kind, bool must_exist,
                            vit_error *error) {
    *j = (vit_journal){.path = vit_strdup(path), .file = -1};
    if (!j->path) return vit_fail_memory(error, "a path", strlen(path));
    const vit_place_kind there = vit_place_look(path, NULL);
    if (there == VIT_PLACE_NOTHING && must_exist)
        return vit_fail(error, VIT_ERROR_IO, "%s: there is no such journal", path);
    if (there != VIT_PLACE_NOTHING && there != VIT_PLACE_FILE)
        return vit_fail(error, VIT_ERROR_IO, "%s: is no regular file, expected a journal", path);
    vit_status status = vit_lock_take(&j->file, path, error);
    if (status == VIT_OK) status = read_journal(j, kind, error);
    if (status != VIT_OK) return status;
    if (ftruncate(j->file, (off_t)j->size) != 0)
        return vit_fail_errno(error, errno, "cannot write %s", path);
    if (j->count > 0) return VIT_OK;
    const char *const begin[] = {"begin", kind, "1"};
    return add(j, NULL, begin, 3, false, error); /* to the disk with the first announcement */
}

void vit_journal_close(vit_journal *j) {
    vit_lock_drop(j->file);
    for (size_t i = 0; i < j->count; i++) vit_free(j->entries[i].fields);
    vit_free(j->entries);
    vit_free(j->path);
    *j = (vit_journal){.file = -1};
}
