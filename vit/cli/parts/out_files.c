#include "vit/cli/parts/out_files.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *vit_out_file(const char *out, const char *picture) {
    const char *name = vit_path_last(picture), *dot = strrchr(name, '.');
    const char *percent = strrchr(out, '%');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    vit_string text = {0};
    if (!percent) return vit_strdup(out);
    vit_string_add(&text, "%.*s%.*s%s", (int)(percent - out), out, length, name, percent + 1);
    if (!text.failed) return text.text;
    vit_string_free(&text);
    return NULL;
}

typedef struct named {
    char *file;
    const char *picture;
} named;

static int by_file(const void *a, const void *b) {
    const named *x = a, *y = b;
    return strcmp(x->file, y->file);
}

vit_status vit_out_check(const char *out, int count, char *const *pictures, vit_error *error) {
    const size_t n = (size_t)count;
    vit_status status = VIT_OK;
    if (!out || n < 2) return VIT_OK;
    named *files = vit_alloc(n, sizeof *files);
    if (!files) return vit_fail_memory(error, "the files' names", n * sizeof *files);
    for (size_t i = 0; i < n && status == VIT_OK; i++) {
        files[i] = (named){vit_out_file(out, pictures[i]), pictures[i]};
        if (!files[i].file) status = vit_fail_memory(error, "a file's name", 0);
    }
    if (status == VIT_OK) qsort(files, n, sizeof *files, by_file);
    for (size_t i = 1; i < n && status == VIT_OK; i++)
        if (by_file(&files[i - 1], &files[i]) == 0)
            status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s and %s would both be written to %s",
                              files[i - 1].picture, files[i].picture, files[i].file);
    for (size_t i = 0; i < n; i++) vit_free(files[i].file);
    vit_free(files);
    return status;
}

vit_status vit_own_file(char path[VIT_OWN_PATH], const char *program, vit_error *error) {
    static const char name[] = "/model.safetensors";
    const char *place = getenv("TMPDIR");
    const int length = snprintf(path, VIT_OWN_PATH - sizeof name, "%s/%s-XXXXXX",
                                place && *place ? place : "/tmp", program);
    if (length >= VIT_OWN_PATH - (int)sizeof name || !mkdtemp(path))
        return vit_fail(error, VIT_ERROR_IO, "%s: no directory can be made there: set TMPDIR",
                        path);
    memcpy(path + length, name, sizeof name);
    return VIT_OK;
}

void vit_own_file_remove(char path[VIT_OWN_PATH]) {
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}
