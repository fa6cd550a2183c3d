#include "vit/cli/parts/csv_out.h"

#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/parts/program.h"

void vit_csv_path(vit_string *text, const char *path) {
    const bool quotes = strpbrk(path, ",\"\r\n");
    vit_string_add(text, "%s", quotes ? "\"" : "");
    for (; *path; path++) {
        vit_string_add_bytes(text, path, 1);
        if (*path == '"') vit_string_add_bytes(text, "\"", 1);
    }
    vit_string_add(text, "%s", quotes ? "\"" : "");
}

void vit_csv_field(vit_string *text, const char *field) {
    vit_string visible = {0};
    vit_string_add_visible(&visible, field, 0);
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
