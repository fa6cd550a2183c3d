#include "vit/cli/name_list.h"

#include <errno.h>
#include <string.h>

vit_status vit_name_list_open(vit_name_list *list, const char *path, vit_error *error) {
    bool standard = strcmp(path, "-") == 0;
    *list = (vit_name_list){.stream = standard ? stdin : fopen(path, "r"),
                            .path = standard ? "standard input" : path};
    if (list->stream == NULL) {
        return vit_fail_errno(error, errno, "--files-from: cannot open %s", path);
    }
    return VIT_OK;
}

/* One line into list->name, without its end; *end is true when there is none. */
static vit_status read_line(vit_name_list *list, bool *end, vit_error *error) {
    size_t length = 0;
    int c = getc(list->stream);
    *end = c == EOF;
    list->line++;
    for (; c != EOF && c != '\n'; c = getc(list->stream)) {
        if (c == '\0' || length == VIT_NAME_MAX) {
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %zu %s, expected the name of a file",
                            list->path, list->line,
                            c == '\0' ? "holds a zero byte" : "is longer than 4096 bytes");
        }
        list->name[length++] = (char)c;
    }
    if (ferror(list->stream)) {
        return vit_fail_errno(error, errno, "cannot read %s", list->path);
    }
    if (length > 0 && list->name[length - 1] == '\r') length--;
    list->name[length] = '\0';
    return VIT_OK;
}

vit_status vit_name_list_next(vit_name_list *list, const char **name, vit_error *error) {
    bool end;
    do {
        vit_status status = read_line(list, &end, error);
        if (status != VIT_OK) {
            return status;
        }
    } while (!end && list->name[0] == '\0');
    *name = end ? NULL : list->name;
    return VIT_OK;
}

void vit_name_list_close(vit_name_list *list) {
    if (list->stream != NULL && list->stream != stdin) {
        fclose(list->stream);
    }
    list->stream = NULL;
}
