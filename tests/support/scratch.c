#include "tests/support/scratch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fault.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"

static char directory[64];

static bool enter(const char *pattern) {
    snprintf(directory, sizeof directory, "%s", pattern);
    return mkdtemp(directory) != NULL && chdir(directory) == 0;
}

int enter_directory(void **state) {
    return !enter("/tmp/vit-sys-XXXXXX");
}

int enter_memory(void **state) {
    return !enter("/dev/shm/vit-sys-XXXXXX") && !enter("/tmp/vit-sys-XXXXXX");
}

int leave_directory(void **state) {
    fault_disarm();
    fault_trickle(false);
    char command[160];
    snprintf(command, sizeof command, "chmod -R u+w %s && rm -rf %s", directory, directory);
    return chdir("/") != 0 || system(command) != 0;
}

void make_way(const char *path) {
    char part[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (slash == path) continue;
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        assert_int_equal(vit_make_directory(part, NULL), VIT_OK);
    }
}

void put_bytes(const char *path, const void *bytes, size_t size) {
    make_way(path);
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void put_file(const char *path, const char *text) {
    put_bytes(path, text, strlen(text));
}

void assert_content(const char *path, const char *expected) {
    char text[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
}

size_t count_entries(void) {
    char **names;
    size_t count;
    assert_int_equal(vit_list_directory(&names, &count, ".", NULL), VIT_OK);
    vit_free(names);
    return count;
}

void assert_says(const vit_error *error, vit_status status, const char *a, const char *b) {
    assert_int_equal(error->status, status);
    if (strstr(error->message, a) == NULL || strstr(error->message, b) == NULL)
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", error->message, a, b);
}
