#include "vit/cli/parts/name_list.h"
#include "vit/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

vit_status vit_name_list_open(vit_name_list *list, const char *path, bool zeros, vit_error *error) {
    bool standard = strcmp(path, "-") == 0;
    *list = (vit_name_list){.file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
                            .end_mark = zeros ? '\0' : '\n',
                            .path = standard ? "standard input" : path};
    if (list->file < 0) return vit_fail_errno(error, errno, "--files-from: cannot open %s", path);
    return VIT_OK;
}

/* Reads what is available into the buffer, behind what is there. */
static vit_status fill(vit_name_list *list, vit_error *error) {
    ssize_t got;
    memmove(list->buffer, list->buffer + list->start, list->end - list->start);
    list->end -= list->start;
    list->start = 0;
    do {
        got = read(list->file, list->buffer + list->end, sizeof list->buffer - list->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return vit_fail_errno(error, errno, "cannot read %s", list->path);
    list->end += (size_t)got;
    list->ended = got == 0;
    return VIT_OK;
}

/* Whether the buffer begins with a whole line: it ends there, or is too long, or is the last one.
 * *length: without its end. */
static bool has_line(const vit_name_list *list, size_t *length) {
    const char *start = list->buffer + list->start;
    const char *end = memchr(start, list->end_mark, list->end - list->start);
    *length = end ? (size_t)(end - start) : list->end - list->start;
    return end || *length > VIT_NAME_MAX || list->ended;
}

static void skip_empty_lines(vit_name_list *list) {
    for (;;) {
        const char *at = list->buffer + list->start;
        size_t left = list->end - list->start;
        size_t length =
            left > 1 && list->end_mark == '\n' && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
        if (left == 0 || at[length - 1] != list->end_mark) return;
        list->start += length;
        list->line++;
    }
}

static vit_status take_line(vit_name_list *list, size_t length, vit_error *error) {
    const char *start = list->buffer + list->start;
    bool lines = list->end_mark == '\n';
    bool zero = memchr(start, '\0', length < VIT_NAME_MAX ? length : VIT_NAME_MAX);
    const char *other = lines && list->line == 0 ? vit_utf8_other(start, length) : NULL;
    list->line++;
    if (other && zero && strncmp(other, "is UTF-16", 9) == 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", list->path, other);
    if (zero || length > VIT_NAME_MAX) {
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: %s %zu %s, expected the name of a file",
                        list->path, lines ? "line" : "name", list->line,
                        zero ? "holds a zero byte (a list of find -print0 is read with -0)"
                             : "is longer than 4096 bytes");
    }
    list->start += length + (list->start + length < list->end);
    const size_t mark = lines && list->line == 1 ? vit_utf8_mark(start, length) : 0;
    start += mark;
    length -= mark;
    memcpy(list->name, start, length);
    if (lines && length > 0 && list->name[length - 1] == '\r') length--;
    list->name[length] = '\0';
    return VIT_OK;
}

vit_status vit_name_list_next(vit_name_list *list, const char **name, vit_error *error) {
    *name = NULL;
    do {
        size_t length;
        vit_status status = VIT_OK;
        while (status == VIT_OK && !has_line(list, &length)) status = fill(list, error);
        if (status == VIT_OK && list->start == list->end) return VIT_OK;
        if (status == VIT_OK) status = take_line(list, length, error);
        if (status != VIT_OK) return status;
    } while (list->name[0] == '\0');
    *name = list->name;
    return VIT_OK;
}

bool vit_name_list_ready(vit_name_list *list) {
    size_t length;
    skip_empty_lines(list);
    while (!has_line(list, &length)) {
        struct pollfd wait = {.fd = list->file, .events = POLLIN};
        if (poll(&wait, 1, 0) <= 0) return false;
        if (fill(list, NULL) != VIT_OK) return true; /* vit_name_list_next will fail */
        skip_empty_lines(list);
    }
    return true;
}

void vit_name_list_close(vit_name_list *list) {
    if (list->file > STDIN_FILENO) close(list->file);
    list->file = -1;
}
